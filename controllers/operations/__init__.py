"""Operations: what an action can do, who does it, and how it is taken back.

The catalogue has one object for each operation, with its parameters, its risk, its executor and
its opposite. Whoever proposes or carries out something asks here first; an operation that is not
in the catalogue does not happen.

Words:
- operation: a named thing that can be done, such as restart or throttle
- executor: who carries it out: the product, an agent, a controller or a machine
- endpoint: a machine outside that is called to carry operations out
- undo: the operation that takes another one back
"""

from __future__ import annotations

from controllers.operations.catalogue import ALL, find
from controllers.operations.executors import Executor, carrier_of, executor_of
from controllers.operations.local_executor import perform, plan, undo
from controllers.operations.operation import REMOVE, FieldChange, Impossible, Operation
from controllers.operations.operation_check import check, risk_of
from resources.store.store import Stale

__all__ = [
    "ALL",
    "REMOVE",
    "Executor",
    "FieldChange",
    "Impossible",
    "Operation",
    "Stale",
    "carrier_of",
    "catalogue",
    "check",
    "endpoints",
    "executor_of",
    "find",
    "local_executor",
    "operation_check",
    "perform",
    "phrases",
    "plan",
    "risk_of",
    "undo",
    "webhooks",
]
