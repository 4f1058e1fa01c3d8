"""What each enforcement mode would have done with the proposals of the last week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from controllers.decisions import gate_facts
from controllers.engine import gate
from controllers.engine.terms import Controller, Mode
from controllers.models import Proposal

WEEK = timedelta(days=7)
# More are not gone through for one page; the page then speaks of the last so many.
MOST = 500


@dataclass(frozen=True)
class Choice:
    """One mode: what it means, and how much of the past it would have handled that way."""

    mode: Mode
    icon: str
    words: str
    # "Would have … 9 of the 14 proposals of this week …"
    verb: str
    ending: str
    count: int = 0
    current: bool = False


# What becomes of a proposal in each mode, from the one that does most.
MEANT: Mapping[Mode, str] = {
    "enforce": "run",
    "warn": "ask",
    "advise": "recommend",
    "observe": "record",
}
CHOICES: tuple[Choice, ...] = (
    Choice(
        "enforce",
        "gavel",
        "Acts on its own up to its risk limit, asks above it.",
        "run",
        " without asking",
    ),
    Choice(
        "warn",
        "megaphone",
        "Asks first. Sends an alert, then waits in the queue.",
        "asked about",
        "",
    ),
    Choice(
        "advise",
        "lightbulb",
        "Suggests. No alert, no queue.",
        "suggested",
        "",
    ),
    Choice(
        "observe",
        "eye",
        "Watches. Measures and logs, nothing else.",
        "only noted",
        "",
    ),
)


@dataclass(frozen=True)
class Past:
    """The proposals of the last week, and what became of them in each mode."""

    total: int
    # Whether there were more than were gone through.
    cut: bool
    choices: tuple[Choice, ...]

    @property
    def span(self) -> str:
        """How far back it goes, as a sentence ends."""
        return f"last {self.total:,} proposals" if self.cut else f"{self.noun} of this week"

    @property
    def noun(self) -> str:
        """One proposal, or several."""
        return "proposal" if self.total == 1 else "proposals"


def consequences(key: int, controller: Controller | None, current: str, now: datetime) -> Past:
    """Ask the gate what each mode would have said of the last week's proposals."""
    rows = Proposal.objects.filter(controller=key, created_at__gte=now - WEEK)
    near = rows.select_related("resource").defer("resource__status", "evidence", "basis")
    found = list(near.order_by("-pk")[: MOST + 1])
    heard: Counter[tuple[Mode, str]] = Counter()
    for proposal in found[:MOST]:
        for mode in MEANT:
            heard[mode, ruled(proposal, controller, mode, now)] += 1
    return Past(
        min(len(found), MOST),
        len(found) > MOST,
        tuple(
            replace(
                each,
                count=heard[each.mode, MEANT[each.mode]],
                current=each.mode == current,
            )
            for each in CHOICES
        ),
    )


def ruled(proposal: Proposal, controller: Controller | None, mode: Mode, now: datetime) -> str:
    """Return what the mode table says of a proposal: the strictest word about any of its steps."""
    words = [
        gate.by_mode(
            gate_facts.question(proposal, each, controller, (), now)._replace(mode=mode)
        ).word
        for each in proposal.actions
    ]
    return max(words, key=gate_facts.STRICTNESS.index, default="record")
