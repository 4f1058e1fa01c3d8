"""What somebody is told when their answer was not recorded: who was faster, what changed, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from controllers.decisions import answers
from controllers.engine.finding_text import shown
from controllers.models import Proposal
from controllers.narrative import proposal_text
from controllers.web.approvals.decision_panel import FORMS, Desk, Notice
from controllers.web.approvals.proposal_view import Reading, find
from resources.documents import problems
from resources.documents.problems import Problem
from resources.templatetags.ui import age_in_words

# Sentences about the reason are shown at the reason.
ABOUT_REASON = ("Say why", "A reason", "The reason")
NOT_RECORDED = "Your {} was not recorded."

Answer = tuple[Desk, int]


def explained(desk: Desk, problem: Problem) -> Answer:
    """Return the desk as it stands now, with what to say, and the status of the answer."""
    fresh = again(desk, keep=True)
    match problem.code:
        case problems.FORBIDDEN:
            said = f"{problem.message} {lost(desk)}"
            fresh.notice = Notice("You cannot decide this.", said)
        case problems.EXPIRED:
            fresh.notice = lapsed(fresh, problem)
        case problems.CHANGED:
            fresh.notice = changed(fresh.proposal, problem.facts["revision"])
        case problems.DECIDED:
            fresh.notice = decided(fresh, problem)
        case problems.STOPPED:
            fresh.notice = Notice("A person holds it.", problem.message, tone="warn")
        case problems.BUSY:
            said = "Somebody changed it at the same moment. Try again."
            fresh.notice = Notice("Nothing was recorded.", said)
        case _:
            invalid(fresh, problem.message)
    return fresh, problem.status


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
    said = answers.find(desk.verdict)
    return NOT_RECORDED.format(said.noun if said else "answer")


def invalid(desk: Desk, sentence: str) -> None:
    """Say what is missing, where it is missing."""
    if sentence.startswith(ABOUT_REASON):
        desk.problems = {"reason": sentence}
    else:
        desk.notice = Notice("That cannot be done.", sentence)


def lapsed(desk: Desk, problem: Problem) -> Notice:
    """Say that it is too late."""
    said = answers.find(desk.verdict)
    if said and said.too_late:
        return Notice(said.too_late, problem.message)
    at = f"{desk.proposal.expires_at:%H:%M} UTC on {desk.proposal.expires_at:%-d %b}"
    nothing = "Nothing ran. A new one appears if the drift is still there."
    return Notice(f"This lapsed at {at}.", nothing, tone="warn", onward=True, again=True)


def decided(desk: Desk, problem: Problem) -> Notice:
    """Say who was faster."""
    proposal = desk.proposal
    if not proposal.decided_by or proposal.decided_at is None:
        return Notice(problem.message, lost(desk), onward=True)
    who = proposal_text.names([proposal.decided_by])[proposal.decided_by]
    when = age_in_words(proposal.decided_at, desk.now)
    title = f"{who} {proposal_text.answered(proposal.answer)} {when}."
    return Notice(title, lost(desk), proposal.reason, onward=True)


def changed(proposal: Proposal, revision: int) -> Notice:
    """Say what is different from what was seen."""
    return Notice(
        "The plan changed while you were reading.",
        "Read it again before you decide. What you typed is still here.",
        tone="warn",
        changes=differences(answers.since(proposal, revision)),
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
