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
    evidence = tuple([_evidence(reading, absent) for reading in readings])
    verdicts = [each.verdict for each in evidence]
    missed = verdicts.count("missed")
    known = missed + verdicts.count("met")
    return Dimension("kpi", missed / known if known else None, None, evidence)


def _evidence(reading: Reading, absent: Verdict) -> Evidence:
    name, comparison, target, value, unit, at, by, note = reading
    meets = _MEETS.get(comparison)
    if meets is None or target is None or value is None:
        verdict = absent
    else:
        verdict = "met" if meets(value, target) else "missed"
    wanted = _wanted(comparison, target, unit)
    return Evidence(f"kpi/{name}", verdict, wanted, value, at, by, note)


@lru_cache(maxsize=4096)
def _wanted(comparison: str, target: float | None, unit: str) -> str | None:
    if target is None:
        return None
    return f"{_SYMBOLS.get(comparison, comparison)} {quantity(target, unit)}"
