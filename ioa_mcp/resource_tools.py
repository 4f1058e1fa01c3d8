"""Tools to read what is declared, and to say how things are."""

from __future__ import annotations

from typing import Any

from ioa_client import Client
from ioa_mcp.tool_results import first

Item = dict[str, Any]


def read_resource(product: Client, kind: str, name: str) -> Item:
    """Read one resource, such as kind `agent` and name `scribe`: its spec, status, conditions."""
    return product.resources.read(kind, name)


def list_resources(product: Client, kind: str, domain: str | None = None, limit: int = 50) -> Item:
    """List resources of a kind, such as `agent`, `budget` or `workflow`."""
    return first(product.resources.list(kind, domain=domain), limit)


def report_status(product: Client, agent: str, status: Item) -> Item:
    """Report how you are: state, queueLength, errorRate, conditions and the like, merged in."""
    return product.resources.report("agent", agent, status)


def report_observations(product: Client, items: list[Item]) -> Item:
    """Report many statuses at once, each with kind, name and status; each gets a verdict."""
    return product.resources.observe(items)


def read_holds(product: Client, limit: int = 50) -> Item:
    """Read what people said no to now, and the epoch that moves when it changes."""
    return {**first(product.holds.list(), limit), "epoch": product.holds.epoch()}


def send_telemetry(product: Client, events: list[Item]) -> Item:
    """Tell events, each with `event` and `payload`; each gets a verdict."""
    return product.telemetry.tell(events)


TOOLS = (
    read_resource,
    list_resources,
    report_status,
    report_observations,
    read_holds,
    send_telemetry,
)
