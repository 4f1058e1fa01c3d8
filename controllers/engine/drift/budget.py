"""Budget drift: how far the worst spending exceeds its limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

from controllers.engine.dimension import DimensionProbe, DriftDimension, Fact, met
from controllers.engine.document_values import LARGEST, quantity, within_limits
from controllers.engine.finding_text import missed, shown
from controllers.engine.target import Target
from controllers.engine.terms import (
    PLACES,
    Controller,
    Dimension,
    Drift,
    Evidence,
    Spend,
    Verdict,
)

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


def _look(_: Controller, target: Target) -> DimensionProbe:
    return DimensionProbe(target.spending, within_limits, partial(met, "budget"), measure)


def _faults(drift: Drift, _: str) -> Iterable[str]:
    for name, each in missed(drift, "budget").items():
        limit = str(each.desired).removeprefix("<= ")
        yield f"{name}: {shown(each.observed)} used of {limit}"


def _rank(_: str) -> int:
    return 2


def _clause(fact: Fact) -> str:
    return f"{fact.label} {fact.gap}"


def _share(off: Sequence[Fact], _: str) -> str:
    return off[0].gap if off else "within its limits"


DIMENSION = DriftDimension(
    name="budget",
    order=30,
    weight=0.2,
    meaning="How far the worst spending exceeds its limit.",
    label="Budget",
    heading="budget",
    look=_look,
    in_glance=True,
    faults=_faults,
    rank=_rank,
    clause=_clause,
    share=_share,
)
