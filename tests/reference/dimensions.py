"""The page of the dimensions of drift: what each measures, and what it weighs."""

from __future__ import annotations

from controllers.engine import drift
from controllers.engine.terms import THRESHOLD
from tests.reference.writing import code, table

HEAD = """\
# Dimensions of drift

What a drift score is made of. Made by `python -m tests.catalogue` of `controllers/engine/drift/`;
do not edit it.

Each is 0 to 1. The score is the weighted mean of those that have data, or the largest with
`spec.drift.aggregation: max`. A controller sets other weights in `spec.drift.weights`, and a limit
of its own for one in `spec.drift.dimensionThresholds`; both take each of these names.
"""
HEADS = ("Dimension", "People read", "What is measured", "Weight")


def page() -> str:
    """Write the page."""
    rows = [
        (code(each.name), each.label, each.meaning, code(f"{each.weight:g}")) for each in drift.ALL
    ]
    usual = f"\nWithout `spec.driftThreshold` a score of {THRESHOLD:g} counts as drift.\n"
    return f"{HEAD}\n{table(HEADS, rows)}{usual}"
