"""Execution: what was approved is carried out, once, and never against a hold.

One critical section asks the gate again and begins the effect in one transaction. What others
do gets a permit with a deadline; what was lost is tried again only where that is safe.

Words:
- step: one action of an approved plan
- task: a step that an agent fetches and does
- recheck: a fresh look at the target just before the effect
- fence: a number that makes late results of a replaced worker void
"""

from __future__ import annotations

from controllers.execution.due_work import execute, run_due
from controllers.execution.recovery import recover

__all__ = [
    "agent_pull",
    "agent_tasks",
    "execute",
    "preconditions",
    "progress",
    "recover",
    "results",
    "run_due",
]
