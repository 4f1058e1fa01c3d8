"""What people say about a proposal: one function for each answer, one transaction for each call.

Every answer names what the person saw. Whoever comes too late is told who was faster; whoever saw
something else is told that it has changed, and `since` says what.
"""

from __future__ import annotations

from controllers.deciding.afterwards import Outcome, resolve, review, undo
from controllers.deciding.answering import Held, Invalid
from controllers.deciding.changing import change
from controllers.deciding.replacing import Instead, adopt, override
from controllers.deciding.revisions import since
from controllers.deciding.voting import approve, break_glass, reject
from controllers.deciding.waiting import (
    Rest,
    accept,
    extend,
    request_changes,
    snooze,
    withdraw,
)

__all__ = [
    "Held",
    "Instead",
    "Invalid",
    "Outcome",
    "Rest",
    "accept",
    "adopt",
    "approve",
    "break_glass",
    "change",
    "extend",
    "override",
    "reject",
    "request_changes",
    "resolve",
    "review",
    "since",
    "snooze",
    "undo",
    "withdraw",
]
