"""Conditions a controller writes: its own, under its own name, and only when they say news."""

from __future__ import annotations

from controllers.engine.errors import Permanent
from controllers.engine.terms import ORPHANED, Condition, Controller, Resource


class ConditionTypeTaken(Permanent):
    """Somebody else writes a condition of this type."""


def claim(controller: Controller, resource: Resource) -> None:
    """Make sure that the controller's condition is its own to write, before it does anything."""
    stated = stated_as(resource, controller.condition_type)
    if stated is not None and not may_write(stated, controller.ref):
        owner = stated.managed_by or "whoever reports it"
        raise ConditionTypeTaken(
            f"{stated.type} is written by {owner}; name another conditionType."
        )


def news(resource: Resource, condition: Condition) -> Condition | None:
    """Return the condition if the resource does not carry it yet; never touch another's."""
    stated = stated_as(resource, condition.type)
    if stated is None:
        return condition
    if stated == condition or not may_write(stated, condition.managed_by):
        return None
    return condition


def stated_as(resource: Resource, kind: str) -> Condition | None:
    """Return the condition of a type that a resource carries."""
    for each in resource.conditions:
        if each.type == kind:
            return each
    return None


def may_write(stated: Condition, writer: str) -> bool:
    """Tell whether a condition is the writer's own, or nobody's any more."""
    return stated.managed_by == writer or stated.reason == ORPHANED
