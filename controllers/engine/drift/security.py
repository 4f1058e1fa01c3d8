"""Security drift: the share of its rules that the worst policy sees violated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from controllers.engine.dimension import DimensionProbe, DriftDimension, Fact, met
from controllers.engine.document_values import LARGEST, without_violation
from controllers.engine.finding_text import missed, shown
from controllers.engine.target import Target
from controllers.engine.terms import (
    PLACES,
    Compliance,
    Controller,
    Dimension,
    Drift,
    Evidence,
)


def measure(compliances: Sequence[Compliance]) -> Dimension:
    """Take the largest violations / rules; a policy with neither says nothing."""
    shares, evidence = [], []
    for policy, violations, rules in compliances:
        if rules > 0 or violations > 0:
            shares.append(violations / rules if rules > 0 else 1.0)
        if violations > 0:
            note = f"of {rules} rules"
            evidence.append(Evidence(f"policy/{policy}", "missed", 0, violations, "", "", note))
    if not shares:
        return Dimension("security", None)
    raw = min(LARGEST, max(shares))
    score = min(1.0, max(0.0, raw))
    return Dimension("security", score, round(raw, PLACES), tuple(evidence), len(shares))


def _look(_: Controller, target: Target) -> DimensionProbe:
    return DimensionProbe(target.compliance, without_violation, partial(met, "security"), measure)


def _faults(drift: Drift, _: str) -> Iterable[str]:
    for name, each in missed(drift, "security").items():
        noun = "violation" if each.observed == 1 else "violations"
        yield f"{name} has {shown(each.observed)} {noun} {each.note}".rstrip()


def _titled(name: str) -> str:
    return f"Violations of {name}"


def _sides(_: str, actual: str) -> tuple[str, str, str]:
    return "none", actual, f"{actual} too many"


def _rank(_: str) -> int:
    return 0


def _clause(fact: Fact) -> str:
    return f"{fact.actual} violations {fact.note}".rstrip()


def _share(off: Sequence[Fact], _: str) -> str:
    return _clause(off[0]) if off else "no rule violated"


DIMENSION = DriftDimension(
    name="security",
    order=40,
    weight=0.2,
    meaning="The share of its rules that the worst policy sees violated.",
    label="Security",
    heading="policies",
    look=_look,
    in_glance=True,
    faults=_faults,
    titled=_titled,
    sides=_sides,
    rank=_rank,
    clause=_clause,
    share=_share,
)
