"""Field drift: what is not as declared, field by field."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.engine.types import Difference, Dimension, Evidence

_NOT_COMPARED = Dimension("field", None)
_AS_DECLARED = Dimension("field", 0.0)


def measure(differences: Sequence[Difference], compared: bool) -> Dimension:
    """Score n differences as n / (n + 1); what nobody manages is not counted."""
    if not compared:
        return _NOT_COMPARED
    evidence = tuple([_evidence(each) for each in differences if each.category != "unmanaged"])
    if not evidence:
        return _AS_DECLARED
    # A target names only what differs, so there is no total to divide by: this grows with every
    # difference, starts at a half, and stays below one.
    count = len(evidence)
    return Dimension("field", count / (count + 1), None, evidence, count)


def _evidence(difference: Difference) -> Evidence:
    path, desired, observed, category, note = difference
    return Evidence(f"field/{path}", "missed", desired, observed, "", "", note or category)
