"""Telemetry: events that agents send, held against their contracts.

Each event gets a verdict of its own, a repeat counts once, and a batch is one transaction.
Events are kept in a narrow table, counted by the minute and forgotten by declared age.

Words:
- contract: what a Telemetry resource declares about an event
- verdict: what became of one event: taken, repeated or refused
"""

from __future__ import annotations

from controllers.telemetry.alert_rules import listen
from controllers.telemetry.arrivals import Arrival
from controllers.telemetry.contract_status import publish
from controllers.telemetry.event_retention import sweep as forget
from controllers.telemetry.intake import MOST, IntakeResult, Verdict, take
from controllers.telemetry.names import canonical

__all__ = [
    "MOST",
    "Arrival",
    "IntakeResult",
    "Verdict",
    "canonical",
    "contract_check",
    "contracts",
    "forget",
    "listen",
    "publish",
    "take",
]
