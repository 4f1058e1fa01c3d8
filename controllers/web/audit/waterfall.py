"""The waterfall of one cycle: its five phases as they took time, and what each came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from controllers.engine.cycle import PHASES
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Cycle, Proposal
from controllers.narrative import proposal_text
from resources.documents import kinds
from resources.tables.models import LedgerEvent

# As many proposals as a waterfall shows one by one.
SHOWN = 20
ALL = 100.0
MARKS = 4
SECOND = 1000


class Bar(NamedTuple):
    """One line of the waterfall; a step has no time of its own, so it has no bar."""

    kind: str
    name: str
    tone: str = ""
    start: float = 0.0
    width: float = 0.0
    took: str = ""
    url: str = ""


class Story(NamedTuple):
    """What a waterfall is drawn from."""

    cycle: Cycle
    entries: Sequence[LedgerEvent]
    proposals: Sequence[Proposal]
    kind: str
    now: datetime


def waterfall(story: Story) -> list[Bar]:
    """Draw the phases one after the other, with what came of each below it."""
    times = {name: float(story.cycle.times.get(name) or 0) for name in PHASES}
    whole = sum(times.values()) or 1.0
    below = {"watch": watched, "diff": judged, "plan": planned, "act": acted, "report": reported}
    bars, passed = [], 0.0
    for name in PHASES:
        start, width = ALL * passed / whole, ALL * times[name] / whole
        bars.append(Bar("phase", name.title(), "accent", start, width, lasting(times[name])))
        bars += below[name](story, start)
        passed += times[name]
    return bars


def axis(cycle: Cycle) -> list[str]:
    """Return the marks above a waterfall."""
    whole = sum(float(cycle.times.get(name) or 0) for name in PHASES)
    return ["0", *(lasting(whole * mark / MARKS) for mark in range(1, MARKS + 1))]


def lasting(milliseconds: float) -> str:
    """Write how long something took."""
    if milliseconds >= SECOND:
        return f"{milliseconds / SECOND:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 1 else f"{milliseconds:.1f} ms"


def several(count: int, noun: str) -> str:
    """Count something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plural(kind: str, count: int) -> str:
    """Count the resources of a kind."""
    found = kinds.by_name(kind)
    if found is None:
        return several(count, "resource")
    return f"{count:,} {found.plural.lower() if count != 1 else found.name.lower()}"


def watched(story: Story, start: float) -> Iterator[Bar]:
    """Say how many were read."""
    count = int(story.cycle.counts.get("watched", 0))
    yield Bar("sub", f"Read {plural(story.kind, count)}")


def judged(story: Story, start: float) -> Iterator[Bar]:
    """Say how they stand."""
    counts = story.cycle.counts
    for name, words, tone in (
        ("healthy", "on target", "ok"),
        ("drifted", "drifting", "warn"),
        ("unknown", "not measured", ""),
        ("errors", "could not be looked at", "danger"),
    ):
        if counts.get(name):
            yield Bar("sub", f"{counts[name]:,} {words}", tone)


def planned(story: Story, start: float) -> Iterator[Bar]:
    """Say what the hooks said and how much was planned."""
    said: dict[str, Counter[bool]] = {}
    for each in story.cycle.hooks:
        said.setdefault(str(each.get("name", "")), Counter())[each.get("passed") is True] += 1
    for name, found in sorted(said.items()):
        failed = found[False]
        words = f"does not hold for {failed:,}" if failed else f"passed for {found[True]:,}"
        yield Bar("sub", f"Check {name} {words}", "danger" if failed else "ok")
    if actions := story.cycle.counts.get("actions"):
        yield Bar("sub", f"{several(actions, 'action')} planned", "warn")


def acted(story: Story, start: float) -> Iterator[Bar]:
    """Say what was done at once, and what became of each proposal."""
    counts = story.cycle.counts
    if counts.get("success"):
        yield Bar("sub", f"{several(counts['success'], 'action')} done at once", "ok")
    if counts.get("failure"):
        yield Bar("sub", f"{several(counts['failure'], 'action')} failed", "danger")
    for each in story.proposals[:SHOWN]:
        yield of_proposal(each, start, story.now)
    if len(story.proposals) > SHOWN:
        yield Bar("sub", f"{several(len(story.proposals) - SHOWN, 'more proposal')}", "human")


def of_proposal(proposal: Proposal, start: float, now: datetime) -> Bar:
    """Say how a proposal stands; what still waits reaches to the end."""
    word, title = proposal_text.state(proposal, now), proposal_text.title(proposal)
    name, url = f"{proposal_text.number(proposal)} {title}", f"/approvals/{proposal.pk}"
    if proposal.state in WAITING and proposal.expires_at > now:
        return Bar("sub", name, "human", start, ALL - start, "waits", url)
    return Bar("sub", name, word.tone, took=word.text.lower(), url=url)


def reported(story: Story, start: float) -> Iterator[Bar]:
    """Say what was written down."""
    begun, ended = story.cycle.started_at, story.cycle.finished_at
    found = list(within(story.entries, begun, ended))
    conditions = sum(each.event == "resource.condition-changed" for each in found)
    if conditions:
        yield Bar("sub", f"{several(conditions, 'condition')} changed")
    word = "entry" if len(found) == 1 else "entries"
    yield Bar("sub", f"{len(found):,} {word} written to the log")


def within(
    entries: Iterable[LedgerEvent], begun: datetime, ended: datetime | None
) -> Iterator[LedgerEvent]:
    """Yield the entries of the cycle itself."""
    for each in entries:
        if begun <= each.at and (ended is None or each.at <= ended):
            yield each
