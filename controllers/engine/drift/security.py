"""Security drift: the share of its rules that the worst policy sees violated."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.engine.reading import LARGEST
from controllers.engine.types import PLACES, Compliance, Dimension, Evidence


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
