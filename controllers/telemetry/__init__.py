"""Events that agents tell: held against their contracts, kept, counted and listened to."""

from __future__ import annotations

from controllers.telemetry.arrivals import Arrival
from controllers.telemetry.keeping import sweep as forget
from controllers.telemetry.names import canonical
from controllers.telemetry.publishing import publish
from controllers.telemetry.ringing import listen
from controllers.telemetry.taking import MOST, Taken, Verdict, take

__all__ = [
    "MOST",
    "Arrival",
    "Taken",
    "Verdict",
    "canonical",
    "forget",
    "listen",
    "publish",
    "take",
]
