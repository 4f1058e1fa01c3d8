"""KPI drift: the share of KPIs that miss their target."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from controllers.engine.reading import quantity
from controllers.engine.types import Dimension, Evidence, Reading, Verdict

_TOLERANCE = 1e-9


def _equal(value: float, target: float) -> bool:
    return math.isclose(value, target, rel_tol=_TOLERANCE)


_MEETS: Mapping[str, Callable[[float, float], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "eq": _equal,
}
_SYMBOLS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "="}


def measure(
    readings: Sequence[Reading], missing: Literal["ignore", "fail"] = "ignore"
) -> Dimension:
    """Divide the missed KPIs by the known ones; an unknown one is left out, or fails."""
    absent: Verdict = "missed" if missing == "fail" else "unknown"
    evidence, met, unknown = [], 0, 0
    for reading in readings:
        meets = _MEETS.get(reading.operator)
        if meets is None or reading.target is None or reading.value is None:
            unknown += absent == "unknown"
            evidence.append(_evidence(reading, absent))
        elif meets(reading.value, reading.target):
            met += 1
        else:
            evidence.append(_evidence(reading, "missed"))
    known = len(readings) - unknown
    score = (known - met) / known if known else None
    return Dimension("kpi", score, None, tuple(evidence), len(readings))


def _evidence(reading: Reading, verdict: Verdict) -> Evidence:
    name, comparison, target, value, unit, at, by, note = reading
    wanted = _wanted(comparison, target, unit)
    return Evidence(f"kpi/{name}", verdict, wanted, value, at, by, note)


@lru_cache(maxsize=4096)
def _wanted(comparison: str, target: float | None, unit: str) -> str | None:
    if target is None:
        return None
    return f"{_SYMBOLS.get(comparison, comparison)} {quantity(target, unit)}"
