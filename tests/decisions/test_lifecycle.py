"""Every state with every verb: what is allowed leads where it should, all else is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import answers
from controllers.engine import proposal_lifecycle
from controllers.engine.proposal_lifecycle import (
    ANSWERS,
    CLOSED,
    EVENTS,
    OPEN,
    STATES,
    Answer,
    State,
    Verb,
)
from controllers.models import Proposal, Step
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, proposal, seen
from tests.problems import refuses
from tests.rows import every_row

# Written by hand from the specification, not from the table: verb → state it leads to.
WAITING = {
    "vote": "=",
    "approve": "approved",
    "reject": "rejected",
    "change": "pending",
    "override": "overridden",
    "adopt": "converged",
    "accept": "rejected",
    "snooze": "=",
    "request_changes": "changes_requested",
    "withdraw": "withdrawn",
    "break_glass": "approved",
    "extend": "=",
    "revise": "=",
    "confirm": "=",
    "supersede": "superseded",
    "converge": "converged",
    "expire": "expired",
    "skip": "skipped",
}
EXPECTED: dict[str, dict[str, str]] = {
    "recommended": WAITING,
    "pending": WAITING,
    "changes_requested": {
        "change": "pending",
        "override": "overridden",
        "withdraw": "withdrawn",
        "revise": "pending",
        "confirm": "=",
        "supersede": "superseded",
        "converge": "converged",
        "expire": "expired",
        "skip": "skipped",
    },
    "approved": {
        "override": "overridden",
        "withdraw": "withdrawn",
        "revise": "pending",
        "confirm": "=",
        "supersede": "superseded",
        "converge": "converged",
        "claim": "executing",
        "lapse": "lapsed",
        "skip": "skipped",
    },
    "executing": {
        "override": "overridden",
        "confirm": "=",
        "supersede": "superseded",
        "converge": "converged",
        "skip": "skipped",
        "stop": "approved",
        "retry": "approved",
        "finish": "verifying",
        "fail": "failed",
        "lose": "unknown",
        "roll_back": "rolled_back",
    },
    "verifying": {"undo": "approved", "confirm": "=", "verify": "succeeded", "fail": "failed"},
    "unknown": {
        "resolve": "verifying",
        "confirm": "=",
        "retry": "approved",
        "verify": "succeeded",
        "fail": "failed",
        "roll_back": "rolled_back",
    },
    "succeeded": {"undo": "approved"},
    "failed": {"undo": "approved"},
    "rejected": {},
    "expired": {},
    "lapsed": {},
    "superseded": {},
    "converged": {},
    "overridden": {},
    "withdrawn": {},
    "skipped": {},
    "rolled_back": {},
}
VERBS: tuple[Verb, ...] = (*ANSWERS, *EVENTS)
PAIRS = [(state, verb) for state in STATES for verb in VERBS]


def expected(state: str, verb: str) -> str | None:
    """Return where a verb leads from a state, or nothing when it does not fit."""
    led = EXPECTED[state].get(verb)
    return state if led == "=" else led


def test_the_states_and_verbs_are_those_of_the_specification() -> None:
    assert set(STATES) == set(EXPECTED)
    assert {verb for verbs in EXPECTED.values() for verb in verbs} == set(VERBS)


@every_row(("state", "verb"), PAIRS)
def test_a_verb_leads_where_the_specification_says_or_is_refused(state: State, verb: Verb) -> None:
    """O-63"""
    led = expected(state, verb)

    assert proposal_lifecycle.allows(state, verb) == (led is not None)
    assert (state in proposal_lifecycle.sources(verb)) == (led is not None)
    if led is not None:
        assert proposal_lifecycle.after(state, verb) == led
        return
    with refuses("refused") as refused:
        proposal_lifecycle.after(state, verb)
    assert refused.value.facts["allowed"] == [each for each in ANSWERS if each in EXPECTED[state]]


@every_row("state", STATES)
def test_what_is_closed_only_ever_opens_to_be_undone(state: State) -> None:
    led = {
        verb: proposal_lifecycle.after(state, verb)
        for verb in VERBS
        if proposal_lifecycle.allows(state, verb)
    }

    assert (state in OPEN) != (state in CLOSED)
    if state in CLOSED:
        assert set(led) <= {"undo"}


def test_a_refusal_says_what_was_tried_in_words() -> None:
    with refuses("refused", match="changes requested cannot be sent back"):
        proposal_lifecycle.after("changes_requested", "request_changes")


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget afterwards what was declared."""
    monkeypatch.setattr(proposal_lifecycle, "_DECLARED", {})


@pytest.mark.usefixtures("declared")
def test_a_declared_answer_leads_where_it_says_and_nowhere_else() -> None:
    verb = proposal_lifecycle.declare(
        "acknowledge", {"pending": "same", "recommended": "approved"}, past="acknowledged"
    )

    led = {each: proposal_lifecycle.after(each, verb) for each in proposal_lifecycle.sources(verb)}
    assert led == {"recommended": "approved", "pending": "pending"}
    assert proposal_lifecycle.answers("pending")[-1] == verb
    assert verb not in proposal_lifecycle.answers("approved")
    assert proposal_lifecycle.starts(verb)
    assert proposal_lifecycle.told(verb) == "acknowledged"
    with refuses("refused", match="approved cannot be acknowledged"):
        proposal_lifecycle.after("approved", verb)


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(
    ("verb", "leads", "past"),
    [
        # What the specification says stays as it is.
        ("approve", {"pending": "same"}, "let through"),
        ("claim", {"pending": "same"}, "taken"),
        # The ledger could not tell them apart.
        ("dismiss", {"pending": "rejected"}, "rejected"),
        # What is over stays over, and only the product carries something out.
        ("revive", {"rejected": "pending"}, "revived"),
        ("revive", {"succeeded": "approved"}, "revived"),
        ("hurry", {"pending": "executing"}, "hurried"),
        ("hurry", {"pending": "succeeded"}, "hurried"),
        ("hurry", {"nowhere": "same"}, "hurried"),
    ],
)
def test_nobody_declares_what_the_specification_forbids(verb: str, leads: Any, past: str) -> None:
    with pytest.raises(ValueError, match=r"another answer|cannot lead"):
        proposal_lifecycle.declare(verb, leads, past=past)

    assert verb not in proposal_lifecycle.answers("pending") or verb in ANSWERS


@pytest.mark.parametrize("verb", ANSWERS)
def test_what_starts_something_leads_to_it_while_people_decide(verb: Answer) -> None:
    assert proposal_lifecycle.starts(verb) == (verb in ("approve", "break_glass", "adopt"))


# The real use cases, each with the least it needs.
Say = Callable[[Proposal, User, Clock], Proposal]


def said(verb: Answer) -> Say:
    """Return the use case of an answer, called as an interface would."""

    def call(row: Proposal, person: User, clock: Clock) -> Proposal:
        extra: dict[Answer, dict[str, object]] = {
            "change": {"edits": {1: {"factor": 0.25}}},
            "accept": {"until": clock.now + timedelta(days=2)},
            "snooze": {"rest": answers.Rest(clock.now + timedelta(days=2))},
            "extend": {"until": clock.now + timedelta(days=9)},
            "resolve": {"outcome": "happened"},
        }
        use_case: Callable[..., Proposal] = getattr(answers, verb)
        return use_case(
            row.pk,
            person=person,
            seen=seen(row),
            now=clock.now,
            reason="Because it is so.",
            **extra.get(verb, {}),
        )

    return call


def standing(clock: Clock, state: State) -> Proposal:
    """Make a proposal that is in a state, with all that any answer needs."""
    target = agent(clock, model={"provider": "acme", "name": "quill", "version": "1"})
    evidence = {
        "dimension": "field",
        "subject": "field/spec.model.version",
        "verdict": "missed",
        "desired": "1",
        "observed": "2",
        "note": "drifted",
    }
    row = proposal(
        clock,
        target,
        controller(clock),
        state=state,
        score=0.4,
        actions=[action(target.name)],
        evidence=[evidence],
        undo_until=clock.now + timedelta(hours=1),
    )
    sent = {"operation": "throttle", "executor": "agent", "idempotent": True, "key": "k"}
    Step.objects.create(proposal=row, sequence=1, state=Step.State.DISPATCHED, **sent)
    return row


@pytest.mark.sqlite
@pytest.mark.django_db
@every_row(("state", "verb"), [(s, v) for s in STATES for v in ANSWERS], rolled_back=True)
def test_an_answer_moves_a_proposal_as_the_specification_says(
    clock: Clock, maya: User, state: State, verb: Answer
) -> None:
    """O-63 I4: what does not fit is refused with the list of what does."""
    row = standing(clock, state)
    maya.grants.create(role="operator", granted_by="system/ioa", granted_at=clock.now)
    led = expected(state, verb)

    if led is not None:
        assert said(verb)(row, maya, clock).state == led
        assert Proposal.objects.get(pk=row.pk).state == led
        return
    with refuses("expired" if state == "expired" else "decided") as refused:
        said(verb)(row, maya, clock)
    if refused.value.code == "decided":
        fitting = [each for each in ANSWERS if each in EXPECTED[state]]
        assert refused.value.facts["allowed"] == fitting
    unchanged = Proposal.objects.get(pk=row.pk)
    assert (unchanged.state, unchanged.lock) == (state, 0)
