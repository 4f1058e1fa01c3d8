"""How long things took, as the ledger and the users saw it."""

from __future__ import annotations

from collections.abc import Iterable

from faults.facts import Event, Line
from faults.run import Run


def late_beginnings(run: Run, seconds: float) -> int:
    """Count proposals approved during a row that began late, although nothing held them back."""
    events = [each for each in run.place.facts().events if each.at.timestamp() >= run.since]
    held = {each.stream for each in events if each.event in ("proposal.held", "proposal.revised")}
    begun = first(events, "proposal.begun")
    late = 0
    for stream, at in first(events, "proposal.approved").items():
        if stream in begun and stream not in held:
            late += begun[stream] - at > seconds
    return late


def first(events: Iterable[Event], name: str) -> dict[str, float]:
    """Return when something first happened in each stream."""
    found: dict[str, float] = {}
    for each in events:
        if each.event == name:
            found.setdefault(each.stream, each.at.timestamp())
    return found


def latencies(lines: Iterable[Line], *what: str) -> list[float]:
    """Return how long answers took that came, the shortest first."""
    return sorted(
        one["seconds"]
        for each in lines
        if each["what"] in what
        for one in each["tries"]
        if one["status"]
    )


def percentile(sorted_values: list[float], share: float) -> float:
    """Return the value that a share of all do not exceed; nothing is no time."""
    if not sorted_values:
        return 0.0
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]
