"""The loop's own rows, and those of the people over it."""

from __future__ import annotations

from controllers.models.accounting import Consumption, Crossing, Price, Usage
from controllers.models.admitting import Admission, Violation
from controllers.models.arriving import TelemetryCount, TelemetryEvent, TelemetryPulse
from controllers.models.checking import Check
from controllers.models.conclusions import Alert, DriftSample, Judgement
from controllers.models.drilling import Drill
from controllers.models.earning import Autonomy
from controllers.models.entering import Lockout, Visit
from controllers.models.grouping import ApprovalGroup, Membership
from controllers.models.holding import Epoch, Hold, Shadow
from controllers.models.loop import Chore, Cycle, Runtime, WorkItem
from controllers.models.preferring import Preference
from controllers.models.proposing import Decision, Proposal, Step
from controllers.models.repeating import Answered
from controllers.models.restoring import Incarnation
from controllers.models.rights import Delegation, Grant
from controllers.models.running import Heard, RunStep, Timetable, WorkflowRun
from controllers.models.sending import Channel, Delivery, Endpoint

__all__ = [
    "Admission",
    "Alert",
    "Answered",
    "ApprovalGroup",
    "Autonomy",
    "Channel",
    "Check",
    "Chore",
    "Consumption",
    "Crossing",
    "Cycle",
    "Decision",
    "Delegation",
    "Delivery",
    "DriftSample",
    "Drill",
    "Endpoint",
    "Epoch",
    "Grant",
    "Heard",
    "Hold",
    "Incarnation",
    "Judgement",
    "Lockout",
    "Membership",
    "Preference",
    "Price",
    "Proposal",
    "RunStep",
    "Runtime",
    "Shadow",
    "Step",
    "TelemetryCount",
    "TelemetryEvent",
    "TelemetryPulse",
    "Timetable",
    "Usage",
    "Violation",
    "Visit",
    "WorkItem",
    "WorkflowRun",
]
