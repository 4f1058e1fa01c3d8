"""Admission: an agent asks whether it may, before it acts, and reports what it spent.

One transaction holds the locks, the facts, the guards, what is set aside and the record. The
answer is allowed, denied or waiting; an allowed one carries a permit that is used once.

Words:
- permit: a signed yes for one agent, one content and a short time
- violation: a rule that an agent broke, open until it is over
"""

from __future__ import annotations

from controllers.admission.permits import text_of
from controllers.admission.question import ask
from controllers.admission.redemption import redeem
from controllers.admission.requests import Request
from controllers.admission.upkeep import look_after, sweep
from controllers.admission.usage_report import Result, UsageEntry, report

__all__ = [
    "Request",
    "Result",
    "UsageEntry",
    "admission_ledger",
    "ask",
    "look_after",
    "redeem",
    "report",
    "sweep",
    "text_of",
    "usage_report",
]
