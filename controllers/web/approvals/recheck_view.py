"""What is asked again before something approved runs, as it would be answered now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from controllers.access.roles import Tally
from controllers.decisions import gate_facts
from controllers.decisions.creation.reproposal import LATE
from controllers.engine.terms import Ruling
from controllers.execution import preconditions
from controllers.models import Cycle, Proposal

Answer = Literal["ok", "bad", "wait"]
ICONS = {"ok": "circle-check", "bad": "circle-alert", "wait": "clock"}
# The loop looks often; the last looks know the hooks of everything it looks after.
LOOKS = 3
# What lets it run, or asks people first; everything else stands in its way.
CLEAR = ("run", "ask", "recommend")


class RecheckItem(NamedTuple):
    """One thing that has to be so; `code` is named as the product names it."""

    answer: Answer
    text: str
    code: str = ""
    aside: str = ""

    @property
    def icon(self) -> str:
        """The sign of the answer."""
        return ICONS[self.answer]


def checks(proposal: Proposal, tally: Tally, now: datetime) -> list[RecheckItem]:
    """Return everything that is asked again before it runs."""
    return [
        declared(proposal),
        *ruled(proposal, gate_facts.examine(proposal, now)),
        *conditions(proposal),
        *hooks(proposal),
        quorum(proposal, tally),
        *groups(proposal, tally),
    ]


def declared(proposal: Proposal) -> RecheckItem:
    """Ask whether the target is still declared as it was."""
    made, current = proposal.basis.get("generation"), proposal.resource.generation
    if proposal.resource.deleted_at is not None:
        return RecheckItem("bad", "What it is about was deleted")
    if made is None or made == current:
        return RecheckItem(
            "ok", f"Spec is still at revision {current}, the one this plan was made for"
        )
    said = f"Spec is at revision {current}; this plan was made for {made} and is checked anew"
    return RecheckItem("wait", said)


def ruled(proposal: Proposal, ruling: Ruling) -> Iterator[RecheckItem]:
    """Ask the gate: holds, the breaker, the window, what is protected."""
    touches = [path for each in proposal.actions for path in each.get("touches", ())]
    if ruling.hold is None:
        yield RecheckItem("ok", "Nobody holds", touches[0] if touches else str(proposal.resource))
    if ruling.word not in CLEAR:
        yield RecheckItem("wait" if ruling.word == "schedule" else "bad", ruling.reason)


def conditions(proposal: Proposal) -> Iterator[RecheckItem]:
    """Ask the conditions that the plan wrote down."""
    for action in proposal.actions:
        for each in action.get("preconditions", ()):
            good = preconditions.holds(each, proposal.resource)
            yield RecheckItem(
                "ok" if good else "bad", "True now:" if good else "Not true now:", each
            )


def hooks(proposal: Proposal) -> Iterator[RecheckItem]:
    """Tell what the hooks of its controller said when it last looked."""
    if proposal.controller_id is None:
        return
    cycles = Cycle.objects.filter(controller=proposal.controller_id).order_by("-number")
    target = str(proposal.resource)
    for told in cycles.values_list("hooks", flat=True)[:LOOKS]:
        found = [each for each in told if each.get("target") == target]
        for each in found:
            passed = each.get("passed")
            said = "passed" if passed else "did not pass" if passed is False else "does not know"
            answer: Answer = "ok" if passed else "bad" if passed is False else "wait"
            yield RecheckItem(
                answer, f"Hook {said}:", str(each.get("name", "")), "at the last look"
            )
        if found:
            return


def quorum(proposal: Proposal, tally: Tally) -> RecheckItem:
    """Ask whether enough people stand behind it."""
    needed, votes = tally.needed, tally.given
    if proposal.lane == "run" or needed == 0:
        return RecheckItem("ok", "The policy lets it run without asking")
    if votes >= needed or proposal.answer in ("break_glass",):
        return RecheckItem("ok", "Enough people approved it" if needed > 1 else "Approved")
    if proposal.state in LATE:
        return RecheckItem("bad", "Nobody approved it in time")
    said = "One approval" if needed == 1 else f"{needed} approvals"
    return RecheckItem("wait", said, "", f"{votes} of {needed} given")


def groups(proposal: Proposal, tally: Tally) -> Iterator[RecheckItem]:
    """Ask whether enough of them are in the groups that policies name."""
    if proposal.answer == "break_glass":
        return
    for each in tally.shares:
        if not each.known:
            yield RecheckItem("bad", each.sentence)
        else:
            given = f"{each.given} of {each.needed} given"
            yield RecheckItem("wait" if each.missing else "ok", "Of the group", each.group, given)
