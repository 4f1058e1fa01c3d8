"""What is measured: desired against observed, dimension by dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Urgency = Literal["none", "low", "medium", "high", "critical"]
Verdict = Literal["met", "missed", "unknown"]
DIMENSIONS = ("kpi", "health", "budget", "security", "field")
WEIGHTS: Mapping[str, float] = {
    "kpi": 0.3,
    "health": 0.3,
    "budget": 0.2,
    "security": 0.2,
    "field": 0.0,
}
THRESHOLD = 0.15
PLACES = 6


class Reading(NamedTuple):
    """A KPI: what is wanted and what was measured; without a value it is unknown."""

    name: str
    operator: str
    target: float | None
    value: float | None
    unit: str = ""
    at: str = ""
    by: str = ""
    note: str = ""


class Spend(NamedTuple):
    """Consumption against one limit."""

    name: str
    consumed: float
    allocated: float
    unit: str = ""


class Compliance(NamedTuple):
    """A policy's open violations against the number of its rules."""

    policy: str
    violations: float
    rules: int


class Difference(NamedTuple):
    """A field that is not as declared; `category` is one of the five of a comparison."""

    path: str
    desired: Any
    observed: Any
    category: Literal["missing", "unwanted", "drifted", "unmanaged", "stale", "orphan"] = "drifted"
    note: str = ""


class Evidence(NamedTuple):
    """One thing a dimension looked at, and how it stands."""

    subject: str
    verdict: Verdict
    desired: Any = None
    observed: Any = None
    at: str = ""
    by: str = ""
    note: str = ""


class Dimension(NamedTuple):
    """One dimension of drift: its share of the score, clamped to 0..1, and what it rests on.

    It looked at `of` things. The evidence names those that are missed or unknown: most things are
    well, and whoever looks at a hundred thousand resources must not write down each.
    """

    name: str
    score: float | None
    raw: float | None = None
    evidence: tuple[Evidence, ...] = ()
    of: int = 0


class Drift(NamedTuple):
    """How far a resource is from what is declared; without a score nothing is known."""

    score: float | None
    drifted: bool
    dimensions: tuple[Dimension, ...]
    differences: tuple[Difference, ...] = ()
    # What made it drifted: "score", or the dimensions that passed their own limits.
    causes: tuple[str, ...] = ()
    urgency: Urgency = "none"

    def of(self, name: str) -> Dimension | None:
        """Return one dimension, if it was measured."""
        return next((each for each in self.dimensions if each.name == name), None)
