"""KPI drift: the share of KPIs that miss their target."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from controllers.engine.reading import MEETS, quantity
from controllers.engine.types import Dimension, Evidence, Reading, Verdict

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
