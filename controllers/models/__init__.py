"""The loop's own rows."""

from __future__ import annotations

from controllers.models.conclusions import Alert, DriftSample, Judgement, Plan
from controllers.models.loop import Chore, Cycle, Runtime, WorkItem

__all__ = [
    "Alert",
    "Chore",
    "Cycle",
    "DriftSample",
    "Judgement",
    "Plan",
    "Runtime",
    "WorkItem",
]
