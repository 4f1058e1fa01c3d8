"""What the figures mean: their aims, where they fail, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

Unit = Literal[
    "ratio",
    "megabytes",
    "seconds",
    "milliseconds",
    "microseconds",
    "count",
    "intervals",
    "a second",
]
Verdict = Literal["", "ok", "misses aim", "FAILS"]
HEADS = ("figure", "", "database", "size", "value", "spread", "aim", "fails at", "verdict")


@dataclass(frozen=True)
class Gate:
    """One figure of the suite; without an aim it is only shown."""

    what: str
    unit: Unit = "ratio"
    aim: float | None = None
    fails: float | None = None
    # Whether more is better; most figures are costs.
    rising: bool = False

    def judge(self, value: float) -> Verdict:
        """Say what a value comes to."""
        if self.aim is None and self.fails is None:
            return ""
        if self.fails is not None and self.worse(value, self.fails):
            return "FAILS"
        return "misses aim" if self.aim is not None and self.worse(value, self.aim) else "ok"

    def worse(self, value: float, limit: float) -> bool:
        """Tell whether a value is beyond a limit."""
        return value < limit if self.rising else value > limit


GATES = {
    "B1": Gate("full cycle ÷ floor", "ratio", 1.5, 2.5),
    "B1cycle": Gate("full cycle, CPU per resource", "microseconds"),
    "B1floor": Gate("floor, CPU per resource", "microseconds"),
    "B1first": Gate("first cycle ÷ floor"),
    "B2": Gate("CPU per resource ÷ at the smaller size", "ratio", 1.3, 1.6),
    "B3": Gate("full cycle ÷ one in 100 changed", "ratio", 50, 30, rising=True),
    "B3nothing": Gate("full cycle ÷ nothing changed", "ratio", 1_000, 300, rising=True),
    "B4": Gate("peak memory of a full cycle", "megabytes", 200, 300),
    "B4start": Gate("memory before the cycle", "megabytes"),
    "B4growth": Gate("peak memory ÷ at the smaller size", "ratio", 1.3, 1.6),
    "B5": Gate("enqueue, many pending ÷ few pending", "ratio", 0.9, 0.6, rising=True),
    "B6": Gate("one worker ÷ two workers, seconds for all cycles", "ratio", 1.8, 1.4, rising=True),
    "B6one": Gate("all cycles with one worker", "seconds"),
    "B7list": Gate("list of 50 ÷ a bare view", "ratio", 2, 3),
    "B7listcall": Gate("list of 50, CPU per call", "microseconds"),
    "B7report": Gate("a report ÷ a bare view", "ratio", 2, 3),
    "B7reportcall": Gate("a report, CPU per call", "microseconds"),
    "B8": Gate("telling 1,000 pages ÷ a bare broadcast, server CPU", "ratio", 2, 3),
    "B8cpu": Gate("telling one page, server CPU", "microseconds"),
    "B8lost": Gate("pages that missed something in a burst", "count", 0, 0),
    "B9decide": Gate("an approval during a cycle, p99", "milliseconds", 25),
    "B9decidemax": Gate("an approval during a cycle, longest", "milliseconds", None, 250),
    "B9pause": Gate("pause pressed to acknowledged, 4 busy workers, p99", "milliseconds", 50),
    "B9pausemax": Gate("pause with 4 busy workers, longest", "milliseconds", None, 250),
    "B10": Gate("command to first page ÷ an empty project", "ratio", 2, 3),
    "B10start": Gate("command to first page", "seconds"),
    "B11": Gate(
        "longest wait of a controller for its turn, everything at once", "intervals", 1, 1.5
    ),
    "B11reports": Gate("reports taken meanwhile", "a second", 300, 270, rising=True),
    "B11deaf": Gate("open pages that were told nothing meanwhile", "count", 0, 0),
    "B11page": Gate("a page meanwhile, p95", "milliseconds"),
    "B9idle": Gate("a person's edit without a cycle, p99", "milliseconds"),
    "B9": Gate("a person's edit during a cycle, p99", "milliseconds", 25),
    "B9max": Gate("a person's edit during a cycle, longest", "milliseconds", None, 250),
}
# Figures whose limits hold at this size and beyond.
LARGE = {"B3": 100_000, "B3nothing": 100_000}


@dataclass(frozen=True)
class Figure:
    """A figure as it was measured, once for each pair of runs."""

    name: str
    database: str
    size: int
    values: tuple[float, ...]

    @property
    def gate(self) -> Gate:
        """What is asked of it."""
        gate = GATES[self.name]
        return gate if self.size >= LARGE.get(self.name, 0) else Gate(gate.what, gate.unit)

    @property
    def value(self) -> float:
        """The middle of what was measured."""
        return median(self.values)

    @property
    def verdict(self) -> Verdict:
        """What it comes to."""
        return self.gate.judge(self.value)


def as_document(figures: Iterable[Figure]) -> dict[str, Any]:
    """Write figures as `{"B1": {"sqlite": {"10000": {"ratio": …}}}}`."""
    found: dict[str, Any] = {}
    for each in figures:
        gate = each.gate
        of_database = found.setdefault(each.name, {}).setdefault(each.database, {})
        of_database[str(each.size)] = {
            gate.unit: each.value,
            "low": min(each.values),
            "high": max(each.values),
            "runs": len(each.values),
            "aim": gate.aim,
            "fails": gate.fails,
            "verdict": each.verdict,
        }
    return found


def as_rows(figures: Sequence[Figure]) -> Iterator[tuple[str, ...]]:
    """Yield figures as the rows of a table."""
    for each in sorted(figures, key=lambda each: (each.name, each.database, each.size)):
        gate = each.gate
        low, high = shown(min(each.values), gate), shown(max(each.values), gate)
        spread = f"{low} … {high}" if len(each.values) > 1 else ""
        limits = [
            shown(limit, gate) if limit is not None else "" for limit in (gate.aim, gate.fails)
        ]
        place = (each.name, gate.what, each.database, f"{each.size:,}")
        yield (*place, shown(each.value, gate), spread, *limits, each.verdict)


def shown(value: float, gate: Gate) -> str:
    """Write a value with its unit."""
    signs = {
        "ratio": "x",
        "megabytes": " MB",
        "seconds": " s",
        "milliseconds": " ms",
        "microseconds": " µs",
        "count": "",
        "intervals": "",
        "a second": "/s",
    }
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}{signs[gate.unit]}"
