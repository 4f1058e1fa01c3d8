"""Admission: agents ask before they act, and account for what they did."""

from __future__ import annotations

from controllers.admission.asking import ask
from controllers.admission.permits import text_of
from controllers.admission.redeeming import NotPermitted, redeem
from controllers.admission.reporting import Item, Result, report
from controllers.admission.requests import Conflict, Missing, Refused, Request
from controllers.admission.sweeping import look_after, sweep

__all__ = [
    "Conflict",
    "Item",
    "Missing",
    "NotPermitted",
    "Refused",
    "Request",
    "Result",
    "ask",
    "look_after",
    "redeem",
    "report",
    "sweep",
    "text_of",
]
