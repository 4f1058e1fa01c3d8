"""Operations: what an action can do, who does it, and how it is taken back."""

from __future__ import annotations

from controllers.operations.catalogue import ALL, find
from controllers.operations.checking import check, risk_of
from controllers.operations.executors import Executor, carrier_of, executor_of
from controllers.operations.operation import REMOVE, Change, Impossible, Operation
from controllers.operations.performing import perform, plan, undo
from resources.store import Stale

__all__ = [
    "ALL",
    "REMOVE",
    "Change",
    "Executor",
    "Impossible",
    "Operation",
    "Stale",
    "carrier_of",
    "check",
    "executor_of",
    "find",
    "perform",
    "plan",
    "risk_of",
    "undo",
]
