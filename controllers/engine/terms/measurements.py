"""What is measured: desired against observed, dimension by dimension."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

Urgency = Literal["none", "low", "medium", "high", "critical"]
Verdict = Literal["met", "missed", "unknown"]
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


class Glance(NamedTuple):
    """What a quick look finds of a resource where nothing is amiss for certain."""

    # How many of its KPIs are met: all.
    met: int
    # The types of the conditions worked out from its status, all of them good.
    observed: tuple[str, ...]
    # How many limits are kept: all; and how many policies say something, without a violation.
    within: int
    clean: int
    # How many things are well in each dimension that looks for itself.
    others: tuple[int, ...] = ()


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
    # The conditions it worked out itself, whatever was reported besides.
    observed: tuple[str, ...] = ()

    @property
    def figures(self) -> Mapping[str, Any]:
        """It as it is stored: its score and how many things it rests on.

        The raw figure is kept where the score cannot show it; below the limit it would only be
        noise.
        """
        found: dict[str, Any] = {"score": self.score, "of": self.of}
        if self.raw is not None and self.raw > 1:
            found["raw"] = self.raw
        if self.observed:
            found["observed"] = [*self.observed]
        return found


class Drift(NamedTuple):
    """How far a resource is from what is declared; without a score nothing is known."""

    score: float | None
    drifted: bool
    dimensions: tuple[Dimension, ...]
    differences: tuple[Difference, ...] = ()
    # What made it drifted: "score", or the dimensions that passed their own limits.
    causes: tuple[str, ...] = ()
    urgency: Urgency = "none"
    # What an outside controller calls it; ours have words of their own.
    reason: str = ""

    def of(self, name: str) -> Dimension | None:
        """Return one dimension, if it was measured."""
        return next((each for each in self.dimensions if each.name == name), None)

    @property
    def figures(self) -> Mapping[str, Any]:
        """Its dimensions as they are stored."""
        return {each.name: each.figures for each in self.dimensions}


class Well(Drift):
    """The drift of a resource with which nothing is amiss: one for all that are so alike."""

    @cached_property
    def figures(self) -> Mapping[str, Any]:
        """Its dimensions as they are stored."""
        return super().figures
