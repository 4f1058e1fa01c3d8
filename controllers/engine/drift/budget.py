"""Budget drift: how far the worst spending exceeds its limit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from controllers.engine.reading import LARGEST, quantity
from controllers.engine.types import PLACES, Dimension, Evidence, Spend, Verdict

_MEANINGLESS = "A limit below zero limits nothing."


def measure(spends: Sequence[Spend]) -> Dimension:
    """Take the largest (consumed - allocated) / allocated; a limit below zero says nothing."""
    excesses, evidence = [], []
    for name, consumed, allocated, unit in spends:
        if allocated >= 0:
            excesses.append(_excess(consumed, allocated))
            if consumed <= allocated:
                continue
        verdict: Verdict = "missed" if allocated >= 0 else "unknown"
        note = _MEANINGLESS if verdict == "unknown" else ""
        wanted = _wanted(allocated, unit)
        evidence.append(Evidence(f"budget/{name}", verdict, wanted, consumed, "", "", note))
    if not excesses:
        return Dimension("budget", None, None, tuple(evidence), len(spends))
    # A limit close to zero must not make it infinite.
    raw = max(-LARGEST, min(LARGEST, max(excesses)))
    score = min(1.0, max(0.0, raw))
    return Dimension("budget", score, round(raw, PLACES), tuple(evidence), len(spends))


def _excess(consumed: float, allocated: float) -> float:
    if allocated == 0:
        return 1.0 if consumed > 0 else 0.0
    return (consumed - allocated) / allocated


@lru_cache(maxsize=4096)
def _wanted(allocated: float, unit: str) -> str:
    return f"<= {quantity(allocated, unit)}"
