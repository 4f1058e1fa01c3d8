"""Budget drift: how far the worst spending exceeds its limit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from controllers.engine.reading import LARGEST, quantity, within_limits
from controllers.engine.types import PLACES, Dimension, Evidence, Spend, Verdict

_MEANINGLESS = "A limit below zero limits nothing."


def measure(spends: Sequence[Spend]) -> Dimension:
    """Take the largest (consumed - allocated) / allocated; a limit below zero says nothing."""
    excesses = [_excess(each.consumed, each.allocated) for each in spends if each.allocated >= 0]
    evidence = tuple(_evidence(each) for each in spends if within_limits((each,)) is None)
    if not excesses:
        return Dimension("budget", None, None, evidence, len(spends))
    # A limit close to zero must not make it infinite.
    raw = max(-LARGEST, min(LARGEST, max(excesses)))
    score = min(1.0, max(0.0, raw))
    return Dimension("budget", score, round(raw, PLACES), evidence, len(spends))


def _evidence(spend: Spend) -> Evidence:
    name, consumed, allocated, unit = spend
    verdict: Verdict = "missed" if allocated >= 0 else "unknown"
    note = "" if allocated >= 0 else _MEANINGLESS
    return Evidence(f"budget/{name}", verdict, _wanted(allocated, unit), consumed, "", "", note)


def _excess(consumed: float, allocated: float) -> float:
    if allocated == 0:
        return 1.0 if consumed > 0 else 0.0
    return (consumed - allocated) / allocated


@lru_cache(maxsize=4096)
def _wanted(allocated: float, unit: str) -> str:
    return f"<= {quantity(allocated, unit)}"
