"""Short ways to contracts, policies and agents that tell events."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from controllers import telemetry
from controllers.models import TelemetryEvent
from controllers.telemetry import Arrival, IntakeResult
from resources.documents.actor import Actor
from resources.tables.models import AgentToken, LedgerEvent, Resource
from resources.usecases import tokens
from tests.conftest import Clock
from tests.decisions.making import agent
from tests.resources.making import apply, live

EVENT = "growth.signup_completed"
STORY = "8de258d7-f286-4d86-b385-cadd0a678dfb"
SCHEMA = {
    "type": "object",
    "required": ["plan"],
    "properties": {"plan": {"type": "string"}, "seats": {"type": "integer", "minimum": 1}},
}


def document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Write a document."""
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def contract(clock: Clock, name: str = "signup-completed", **spec: Any) -> Resource:
    """Declare a contract of growth's events."""
    declared = {
        "event": EVENT,
        "category": "metric",
        "severity": "info",
        "payload": SCHEMA,
        "source": {"domain": "growth"},
    } | spec
    assert apply(clock.now, document("Telemetry", name, declared)).written
    return live("Telemetry", name)


def policy(clock: Clock, name: str = "house", domain: str = "growth", **defence: Any) -> Resource:
    """Declare what a domain has against words that try to take over."""
    patterns = ["ignore (all )?previous instructions", "a+b literally"]
    declared = {
        "domain": domain,
        "promptInjectionDefense": {"detectPatterns": patterns, "onDetection": "block"} | defence,
    }
    assert apply(clock.now, document("SecurityPolicy", name, declared)).written
    return live("SecurityPolicy", name)


def teller(clock: Clock, name: str = "scribe", domain: str = "growth") -> AgentToken:
    """Give an agent a token."""
    agent(clock, name, domain)
    issued = tokens.issue(
        name,
        scopes=["telemetry:write"],
        lifetime=timedelta(hours=1),
        actor=Actor("person", "alice"),
        now=clock.now,
    )
    return issued.token


def arrival(event: str = EVENT, **given: Any) -> Arrival:
    """Return an event that keeps its contract."""
    said: dict[str, Any] = {"payload": {"plan": "team", "seats": 3}} | given
    return Arrival(event, **said)


def tell(token: AgentToken, *arrivals: Arrival, now: datetime) -> list[IntakeResult]:
    """Let an agent tell events."""
    return telemetry.take(arrivals, token=token, now=now)


def verdict(taken: IntakeResult) -> tuple[str, list[str]]:
    """Return what became of an event, and why."""
    return taken.verdict, [each.code for each in taken.findings]


def story(*names: str) -> list[LedgerEvent]:
    """Return what the ledger says about events."""
    rows = LedgerEvent.objects.filter(event__startswith="telemetry.").order_by("pk")
    return [each for each in rows if not names or each.event.partition(".")[2] in names]


def kept() -> list[TelemetryEvent]:
    return list(TelemetryEvent.objects.order_by("pk"))
