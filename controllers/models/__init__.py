"""Models: the tables of the loop and of the people over it.

One module for each group of tables, named like the context that writes them. A model declares
columns, constraints and indexes; it has no rules, no `save()` and no signals. Every table is
named here, because that is where Django looks.

Words:
- epoch: a counter that every hold moves; what was decided under an older one is asked again
- work item: one controller has to look at one resource
"""

from __future__ import annotations

from controllers.models.admissions import Admission, Violation
from controllers.models.attention_checks import Check
from controllers.models.autonomy import Autonomy
from controllers.models.budgets import Consumption, Crossing, Price, Usage
from controllers.models.conclusions import Alert, DriftSample, Judgement
from controllers.models.database_lives import Incarnation
from controllers.models.drills import Drill
from controllers.models.groups import ApprovalGroup, Membership
from controllers.models.holds import Epoch, Hold, Shadow
from controllers.models.idempotency import Answered
from controllers.models.loop import Chore, Cycle, Runtime, WorkItem
from controllers.models.notifications import Channel, Delivery, Endpoint
from controllers.models.preferences import Preference
from controllers.models.proposals import Decision, Proposal, Step
from controllers.models.rights import Delegation, Grant
from controllers.models.runs import Heard, RunStep, Timetable, WorkflowRun
from controllers.models.signin import Lockout, Visit
from controllers.models.telemetry import TelemetryCount, TelemetryEvent, TelemetryPulse

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
