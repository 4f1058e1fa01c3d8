"""The loop's own rows, and those of the people over it."""

from __future__ import annotations

from controllers.models.conclusions import Alert, DriftSample, Judgement
from controllers.models.holding import Epoch, Hold, Shadow
from controllers.models.loop import Chore, Cycle, Runtime, WorkItem
from controllers.models.proposing import Decision, Proposal, Step
from controllers.models.rights import Delegation, Grant
from controllers.models.sending import Channel, Delivery, Endpoint

__all__ = [
    "Alert",
    "Channel",
    "Chore",
    "Cycle",
    "Decision",
    "Delegation",
    "Delivery",
    "DriftSample",
    "Endpoint",
    "Epoch",
    "Grant",
    "Hold",
    "Judgement",
    "Proposal",
    "Runtime",
    "Shadow",
    "Step",
    "WorkItem",
]
