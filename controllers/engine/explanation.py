"""Say what is wrong, in one sentence that carries the names and the figures."""

from __future__ import annotations

from controllers.engine import drift as dimensions
from controllers.engine.terms import Drift, Snapshot


def explain(snapshot: Snapshot, drift: Drift, measures: str = "KPIs") -> str:
    """Say in one sentence where a resource is not as declared."""
    faults = [part for each in dimensions.ALL for part in each.said(drift, measures)]
    if faults:
        return f"{'; '.join(faults)}."
    known = drift.score is not None
    return f"{snapshot.target.ref} {'is as declared' if known else 'has reported nothing yet'}."
