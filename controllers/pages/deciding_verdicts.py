"""The answers people can give, each with its form and its use case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from controllers import deciding, holds, proposing
from controllers.models import Proposal
from controllers.pages import deciding_inputs as inputs
from controllers.pages.deciding_forms import Form, Given, Told
from controllers.pages.deciding_inputs import Input, Typed, Wrong

# An approval can be taken back for so long, before anything begins.
UNDO = timedelta(seconds=8)
AS_PROPOSED = "As proposed"
OUTCOMES: Mapping[str, str] = {
    "happened": "It happened",
    "failed": "It did not happen",
    "retry": "Try it again",
}


def _soon(_: Told) -> Given:
    return {"after": UNDO}


def _edits(told: Told) -> Given:
    return {"edits": inputs.edits_in(told.proposal, told.typed)}


def _instead(told: Told) -> Given:
    path, value = inputs.value_in(told.proposal, told.typed)
    until = inputs.until_in(told.typed, told.now, told.now)
    return {"instead": deciding.Instead(path, value, until)}


def _until(told: Told) -> Given:
    return {"until": inputs.until_in(told.typed, told.now, told.now)}


def _longer(told: Told) -> Given:
    start = max(told.proposal.expires_at, told.now)
    return {"until": inputs.until_in(told.typed, start, told.now)}


def _rest(told: Told) -> Given:
    if told.typed.get("for") == "worse":
        return {"rest": deciding.Rest(worse=True)}
    return {"rest": deciding.Rest(inputs.until_in(told.typed, told.now, told.now))}


def _outcome(told: Told) -> Given:
    word = told.typed.get("outcome", "")
    if word not in OUTCOMES:
        raise Wrong(outcome="Say what became of it.")
    return {"outcome": word}


def _pause(key: int, *, person: User, now: datetime, reason: str, until: datetime) -> Proposal:
    """Stop the controller of a proposal, as the answer to it."""
    proposal = Proposal.objects.select_related("resource", "controller").get(pk=key)
    wanted = holds.Wanted(
        "pause",
        "controller",
        reason,
        controller=proposal.controller_id,
        ends_at=until,
        proposal=key,
    )
    holds.place(wanted, person=person, now=now)
    return proposal


def _lengths(*names: str, what: str = "For", worse: bool = False) -> Callable[..., list[Input]]:
    def ask(_: Proposal, typed: Typed) -> list[Input]:
        return inputs.until_inputs(typed, names, what, worse=worse)

    return ask


def _override(proposal: Proposal, typed: Typed) -> list[Input]:
    kept = inputs.until_inputs(typed, ("4d", "8h", "7d", "30d"), "Keep for")
    return [*inputs.override_inputs(proposal, typed), *kept]


def _outcomes(_: Proposal, typed: Typed) -> list[Input]:
    chosen = typed.get("outcome", "")
    return [Input("outcome", "What became of it", "radio", chosen, [*OUTCOMES.items()])]


def _parameters(proposal: Proposal, typed: Typed) -> list[Input]:
    return [*inputs.parameter_inputs(proposal, typed)]


ALL = (
    Form(
        verdict="approve",
        offer="Approve",
        button="Approve and run",
        icon="check",
        tone="primary",
        heading="Approve {number}",
        reason=AS_PROPOSED,
        say=deciding.approve,
        read=_soon,
        key="a",
        advances=True,
    ),
    Form(
        verdict="reject",
        offer="Reject",
        button="Reject",
        icon="x",
        tone="danger",
        heading="Reject {number}. Why?",
        hint="The same plan is not proposed again unless things change or get worse.",
        say=deciding.reject,
        key="r",
        advances=True,
    ),
    Form(
        verdict="override",
        offer="Do something else instead",
        button="Override",
        icon="hand",
        tone="human",
        heading="Do something else than {number}",
        hint="No controller can change it while you hold it.",
        say=deciding.override,
        read=_instead,
        ask=_override,
        key="o",
        advances=True,
    ),
    Form(
        verdict="snooze",
        offer="Snooze",
        button="Snooze",
        icon="alarm-clock",
        heading="Snooze {number}",
        hint="It comes back by itself, with as much time as it has left now.",
        reason="Not now",
        say=deciding.snooze,
        read=_rest,
        ask=_lengths("1h", "tomorrow", "7d", worse=True),
        key="s",
        advances=True,
    ),
    Form(
        verdict="pause",
        say=_pause,
        offer="Pause {controller}",
        button="Pause {controller}",
        icon="circle-pause",
        heading="Pause {controller}",
        hint="It still watches and measures, but changes nothing until the pause ends.",
        read=_until,
        ask=_lengths("8h", "1d", "7d"),
        key="p",
        bound=False,
    ),
    Form(
        verdict="change",
        offer="Change the plan",
        button="Change it",
        icon="pencil-line",
        heading="Change what {number} would do",
        hint="Somebody else has to approve what you change.",
        say=deciding.change,
        read=_edits,
        ask=_parameters,
    ),
    Form(
        verdict="accept",
        offer="Accept as it is",
        button="Accept as it is",
        icon="circle-check",
        heading="Live with what {number} is about",
        hint="Nothing runs, and the same plan is not proposed again before then.",
        say=deciding.accept,
        read=_until,
        ask=_lengths("7d", "30d", "90d", what="Accept for"),
        advances=True,
    ),
    Form(
        verdict="adopt",
        offer="Adopt what is there",
        button="Adopt what is there",
        icon="circle-dot",
        heading="Adopt what {target} does now",
        hint="What is observed becomes what is declared.",
        say=deciding.adopt,
        advances=True,
    ),
    Form(
        verdict="request-changes",
        offer="Send back",
        button="Send back",
        icon="undo-2",
        heading="Send {number} back. What should be different?",
        say=deciding.request_changes,
        advances=True,
    ),
    Form(
        verdict="extend",
        offer="Give it more time",
        button="Give it more time",
        icon="clock",
        heading="Give {number} more time",
        hint="Silence never approves: it only waits longer.",
        say=deciding.extend,
        read=_longer,
        ask=_lengths("1d", "4d", "7d", what="Wait longer by"),
    ),
    Form(
        verdict="withdraw",
        offer="Take it back",
        button="Take it back",
        icon="undo-2",
        heading="Take {number} back",
        hint="Nothing runs. A new one appears if the drift is still there.",
        reason="Not needed any more",
        say=deciding.withdraw,
    ),
    Form(
        verdict="break-glass",
        offer="Approve alone, in an emergency",
        button="Approve alone now",
        icon="zap",
        tone="danger",
        heading="Approve {number} alone. What is the emergency?",
        hint="Everybody on the escalation path is told at once, and somebody else reviews it.",
        say=deciding.break_glass,
    ),
    Form(
        verdict="undo",
        offer="Undo",
        button="Undo it",
        icon="undo-2",
        heading="Undo {number}",
        hint="What was there before is declared again, where nobody changed it since.",
        say=deciding.undo,
    ),
    Form(
        verdict="resolve",
        offer="Say what became of it",
        button="Save",
        icon="circle-help",
        heading="What became of {number}?",
        hint="Nobody saw how it ended. Look, then say.",
        say=deciding.resolve,
        read=_outcome,
        ask=_outcomes,
    ),
    Form(
        verdict="review",
        offer="Review it",
        button="I have reviewed it",
        icon="eye",
        tone="primary",
        heading="Review {number}",
        hint="One person approved it alone, in an emergency.",
        reason="Reviewed",
        say=deciding.review,
        bound=False,
    ),
    Form(
        verdict="repropose",
        offer="Propose it again now",
        button="Propose it again",
        icon="refresh-cw",
        tone="primary",
        heading="Propose {number} again",
        hint="It is looked at afresh; if the drift is still there, a new one appears.",
        reason="Still needed",
        say=proposing.repropose,
        bound=False,
    ),
)
FORMS: Mapping[str, Form] = {each.verdict: each for each in ALL}
