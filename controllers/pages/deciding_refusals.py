"""What somebody is told when their answer was not recorded: who was faster, what changed, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from controllers import deciding, holds, proposals, roles, wording
from controllers.engine.wording import shown
from controllers.models import Proposal
from controllers.pages.deciding_desk import Desk, Notice
from controllers.pages.deciding_verdicts import FORMS
from controllers.pages.reading_pane import Reading, find
from resources.store import Stale
from resources.templatetags.ui import age_in_words

REFUSED = (proposals.Refused, holds.Refused, roles.Denied, Stale)
# Sentences about the reason are shown at the reason.
ABOUT_REASON = ("Say why", "A reason", "The reason")
WORDS: Mapping[str, str] = {
    "approve": "approval",
    "reject": "rejection",
    "override": "override",
    "snooze": "snooze",
}
NOT_RECORDED = "Your {} was not recorded."

Answer = tuple[Desk, int]


def explained(desk: Desk, error: Exception) -> Answer:
    """Return the desk as it stands now, with what to say, and the status of the answer."""
    fresh = again(desk, keep=True)
    match error:
        case roles.Denied():
            fresh.notice = Notice("You cannot decide this.", f"{error} {lost(desk)}")
            return fresh, 403
        case proposals.Expired():
            fresh.notice = lapsed(fresh, error)
            return fresh, 410
        case proposals.Changed(seen=seen):
            fresh.notice = changed(fresh.proposal, seen.revision)
            return fresh, 409
        case proposals.Decided():
            fresh.notice = decided(fresh, error)
            return fresh, 409
        case deciding.Held():
            fresh.notice = Notice("A person holds it.", str(error), tone="warn")
            return fresh, 423
        case Stale():
            said = "Somebody changed it at the same moment. Try again."
            fresh.notice = Notice("Nothing was recorded.", said)
            return fresh, 409
        case _:
            return invalid(fresh, str(error)), 422


def again(desk: Desk, *, keep: bool) -> Desk:
    """Return the same desk with the proposal as it is now."""
    proposal = find(desk.proposal.pk) or desk.proposal
    return Desk(
        Reading(proposal, desk.now),
        desk.person,
        place=desk.place,
        back=desk.back,
        verdict=desk.verdict if keep else "",
        typed=desk.typed if keep else None,
    )


def lost(desk: Desk) -> str:
    """Say that nothing came of it."""
    return NOT_RECORDED.format(WORDS.get(desk.verdict, "answer"))


def invalid(desk: Desk, sentence: str) -> Desk:
    """Say what is missing, where it is missing."""
    if sentence.startswith(ABOUT_REASON):
        desk.problems = {"reason": sentence}
    else:
        desk.notice = Notice("That cannot be done.", sentence)
    return desk


def lapsed(desk: Desk, error: Exception) -> Notice:
    """Say that it is too late."""
    if desk.verdict == "undo":
        return Notice("It is too late to undo this.", str(error))
    at = f"{desk.proposal.expires_at:%H:%M} UTC on {desk.proposal.expires_at:%-d %b}"
    said = "Nothing ran. A new one appears if the drift is still there."
    return Notice(f"This lapsed at {at}.", said, tone="warn", onward=True, again=True)


def decided(desk: Desk, error: Exception) -> Notice:
    """Say who was faster."""
    proposal = desk.proposal
    if not proposal.decided_by or proposal.decided_at is None:
        return Notice(str(error), lost(desk), onward=True)
    who = wording.names([proposal.decided_by])[proposal.decided_by]
    when = age_in_words(proposal.decided_at, desk.now)
    title = f"{who} {wording.answered(proposal.answer)} {when}."
    return Notice(title, lost(desk), proposal.reason, onward=True)


def changed(proposal: Proposal, revision: int) -> Notice:
    """Say what is different from what was seen."""
    return Notice(
        "The plan changed while you were reading.",
        "Read it again before you decide. What you typed is still here.",
        tone="warn",
        changes=differences(deciding.since(proposal, revision)),
    )


def differences(found: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Write differences as people read them: where, before, after."""
    return [
        {
            "where": where(each["pointer"]),
            "before": short(each["before"]),
            "after": short(each["after"]),
        }
        for each in found
    ]


def where(pointer: str) -> str:
    """Name a place of what was seen: a parameter, something measured, or a whole thing."""
    steps = [each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:]]
    if "parameters" in steps[:-1]:
        return ".".join(steps[steps.index("parameters") + 1 :])
    if steps[0] == "evidence" and len(steps) > 1:
        subject = steps[1].partition(":")[2]
        return f"{subject} {' '.join(steps[2:])}".strip()
    return " ".join(steps)


def short(value: Any) -> str:
    """Write a value, or how it differs from a plain one."""
    return "other values" if isinstance(value, dict | list) else shown(value)


def closed(desk: Desk) -> Notice:
    """Say why a form that was asked for is not there."""
    denied = desk.denial(desk.verdict)
    if desk.verdict in desk.allowed and denied is not None:
        return Notice("You cannot do this.", str(denied), tone="warn")
    if desk.reading.late:
        said = "Nothing ran. A new one appears if the drift is still there."
        return Notice("This has lapsed.", said, tone="warn", again=True)
    offer = FORMS[desk.verdict].offer.format(number="it", controller="its controller", target="it")
    state = desk.reading.state.text.lower()
    return Notice(f"It is {state}.", f"“{offer}” fits it no more.", tone="warn")
