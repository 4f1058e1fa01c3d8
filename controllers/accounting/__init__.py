"""Accounting: what agents spend, counted once, held against budgets, told to people."""

from __future__ import annotations

from controllers.accounting.alerting import EXCEEDED, OVERSPEND, THRESHOLD, Mark, tell
from controllers.accounting.amounts import Claim, Spent, prices, worked_out
from controllers.accounting.carrying import carry_over
from controllers.accounting.counters import (
    Change,
    Exhausted,
    add,
    as_document,
    given_back,
    reserve,
    used,
)
from controllers.accounting.pricing import enter
from controllers.accounting.publishing import publish, renew
from controllers.accounting.recording import count

__all__ = [
    "EXCEEDED",
    "OVERSPEND",
    "THRESHOLD",
    "Change",
    "Claim",
    "Exhausted",
    "Mark",
    "Spent",
    "add",
    "as_document",
    "carry_over",
    "count",
    "enter",
    "given_back",
    "prices",
    "publish",
    "renew",
    "reserve",
    "tell",
    "used",
    "worked_out",
]
