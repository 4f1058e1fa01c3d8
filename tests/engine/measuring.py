"""Make resources that drift as far as a test wants, and measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from controllers.engine import diff
from controllers.engine.drift import WEIGHTS
from controllers.engine.target import Target
from controllers.engine.terms import (
    Compliance,
    Condition,
    Controller,
    Difference,
    Drift,
    Reading,
    Resource,
    Snapshot,
    Spend,
)

NOW = datetime(2026, 11, 16, 10, tzinfo=UTC)
USUAL = Controller(
    key=1,
    uid="7d4c",
    name="domain-health",
    generation=1,
    kind="Domain",
    labels={},
    interval=timedelta(minutes=5),
    mode="warn",
    weights=WEIGHTS,
)


class World(NamedTuple):
    """What there is to know about a resource; without differences, no field is compared."""

    kpis: Sequence[Reading] = ()
    conditions: Sequence[Condition] = ()
    spending: Sequence[Spend] = ()
    compliance: Sequence[Compliance] = ()
    differences: Sequence[Difference] | None = None
    observations: Sequence[Condition] = ()
    labels: Mapping[str, str] = {}


def measured(world: World, controller: Controller = USUAL) -> Drift:
    """Run DIFF over a resource of this world."""
    given: dict[str, Any] = {}
    if world.differences is not None:
        given["fields"] = lambda _, __: world.differences
    target = Target(
        kind="Domain",
        kpis=lambda _, __: world.kpis,
        spending=lambda _, __: world.spending,
        compliance=lambda _, __: world.compliance,
        observations=lambda _, __: world.observations,
        explain=lambda _, __: "",
        **given,
    )
    resource = Resource(
        key=1,
        uid="91fa",
        kind="Domain",
        name="product",
        domain="product",
        generation=1,
        version=1,
        labels=world.labels,
        spec={},
        status={},
        conditions=tuple(world.conditions),
    )
    return diff.measure(controller, target, Snapshot(resource), NOW)


def kpis(missed: int, of: int) -> list[Reading]:
    """Make KPIs of which the first few miss their target."""
    return [Reading(f"kpi-{n}", "gte", 12, 9 if n < missed else 12) for n in range(of)]


def conditions(bad: int, of: int) -> list[Condition]:
    """Make conditions of which the first few are False."""
    return [Condition(f"Works{n}", "False" if n < bad else "True") for n in range(of)]


def score_of(drift: Drift, dimension: str) -> float | None:
    """Return the score of a dimension that was measured."""
    found = drift.of(dimension)
    assert found is not None
    return found.score
