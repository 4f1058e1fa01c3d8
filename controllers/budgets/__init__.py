"""Budgets: what agents spend, counted once, held against budgets and told to people.

Usage is recorded and counted in one transaction. Counters are narrow rows that only grow by
sums; spending is set aside by one guarded statement, so a limit cannot be passed by a race.

Words:
- counter: how much was spent in one window of one budget
- claim: what an agent wants to spend
- price: what a model costs, as administrators entered it
"""

from __future__ import annotations

from controllers.budgets.amounts import Claim, Spent, prices, worked_out
from controllers.budgets.budget_alerts import EXCEEDED, OVERSPEND, Mark, tell
from controllers.budgets.counters import (
    CounterChange,
    Exhausted,
    add,
    as_document,
    given_back,
    reserve,
    used,
)
from controllers.budgets.opening_balances import carry_over
from controllers.budgets.price_list import enter
from controllers.budgets.status_publisher import publish, renew
from controllers.budgets.usage_records import count

__all__ = [
    "EXCEEDED",
    "OVERSPEND",
    "Claim",
    "CounterChange",
    "Exhausted",
    "Mark",
    "Spent",
    "add",
    "amounts",
    "as_document",
    "budget_status",
    "carry_over",
    "count",
    "economics",
    "enter",
    "given_back",
    "price_list",
    "prices",
    "publish",
    "renew",
    "reserve",
    "tell",
    "used",
    "worked_out",
]
