"""KPI drift: the share of KPIs that miss their target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache, partial
from typing import Literal

from controllers.engine.dimension import DimensionProbe, DriftDimension, Fact
from controllers.engine.dimension import met as so_many
from controllers.engine.document_values import MEETS, quantity
from controllers.engine.finding_text import figures_of, missed, spelled
from controllers.engine.target import Target
from controllers.engine.terms import (
    Controller,
    Dimension,
    Drift,
    Evidence,
    Reading,
    Snapshot,
    Verdict,
)

_SYMBOLS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "="}


def measure(
    readings: Sequence[Reading], missing: Literal["ignore", "fail"] = "ignore", met: int = 0
) -> Dimension:
    """Divide the missed KPIs by the known ones; an unknown one is left out, or fails.

    Those that are met for certain need no reading.
    """
    absent: Verdict = "missed" if missing == "fail" else "unknown"
    evidence, unknown, of = [], 0, met + len(readings)
    for reading in readings:
        meets = MEETS.get(reading.operator)
        if meets is None or reading.target is None or reading.value is None:
            unknown += absent == "unknown"
            evidence.append(_evidence(reading, absent))
        elif meets(reading.value, reading.target):
            met += 1
        else:
            evidence.append(_evidence(reading, "missed"))
    known = of - unknown
    score = (known - met) / known if known else None
    return Dimension("kpi", score, None, tuple(evidence), of)


def _evidence(reading: Reading, verdict: Verdict) -> Evidence:
    name, comparison, target, value, unit, at, by, note = reading
    wanted = _wanted(comparison, target, unit)
    return Evidence(f"kpi/{name}", verdict, wanted, value, at, by, note)


@lru_cache(maxsize=4096)
def _wanted(comparison: str, target: float | None, unit: str) -> str | None:
    if target is None:
        return None
    return f"{_SYMBOLS.get(comparison, comparison)} {quantity(target, unit)}"


def _look(controller: Controller, target: Target) -> DimensionProbe:
    def read(snapshot: Snapshot, now: datetime) -> tuple[int, Sequence[Reading]]:
        return 0, target.kpis(snapshot, now)

    def thorough(found: tuple[int, Sequence[Reading]]) -> Dimension:
        met, others = found
        return measure(others, controller.missing_kpi, met)

    return DimensionProbe(target.unmet or read, _well, partial(so_many, "kpi"), thorough)


def _well(found: tuple[int, Sequence[Reading]]) -> int | None:
    met, others = found
    return None if others else met


def _faults(drift: Drift, measures: str) -> Iterable[str]:
    wrong, measured = missed(drift, "kpi"), drift.of("kpi")
    if wrong and measured:
        known = measured.of - sum(each.verdict == "unknown" for each in measured.evidence)
        verb = "misses its" if len(wrong) == 1 else "miss their"
        yield f"{len(wrong)} of {known} {measures} {verb} target: {figures_of(wrong)}"


def _titled(name: str) -> str:
    return spelled(name.replace("-", " "))


def _rank(_: str) -> int:
    return 3


def _share(_: Sequence[Fact], share: str) -> str:
    return f"{share} targets missed"


DIMENSION = DriftDimension(
    name="kpi",
    order=10,
    weight=0.3,
    meaning="The share of KPIs that miss their target.",
    label="KPI",
    heading="targets",
    look=_look,
    in_glance=True,
    in_document=True,
    faults=_faults,
    titled=_titled,
    rank=_rank,
    share=_share,
)
