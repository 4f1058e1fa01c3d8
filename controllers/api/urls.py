"""Where the endpoints about controllers are, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from controllers.api.alerts import Alerts
from controllers.api.answers import Answer, DecideMany
from controllers.api.cycles import CycleRecord, Cycles
from controllers.api.drift import Drift
from controllers.api.holds import HoldRecord, Holds, Lift, Renew
from controllers.api.proposals import Causes, ProposalRecord, Proposals
from controllers.api.reconciling import Reconcile, ResetBreaker
from controllers.api.track_record import AgentRecord, ControllerRecord

CONTROLLER = "controllers/<str:name>"

urlpatterns = [
    path(f"{CONTROLLER}/reconcile", Reconcile.as_view(), name="api-reconcile"),
    path(f"{CONTROLLER}/reset-breaker", ResetBreaker.as_view(), name="api-reset-breaker"),
    path(f"{CONTROLLER}/cycles", Cycles.as_view(), name="api-cycles"),
    path(f"{CONTROLLER}/cycles/<str:number>", CycleRecord.as_view(), name="api-cycle"),
    path(f"{CONTROLLER}/record", ControllerRecord.as_view(), name="api-controller-record"),
    path("agents/<str:name>/record", AgentRecord.as_view(), name="api-agent-record"),
    path("resources/<str:kind>/<str:name>/drift", Drift.as_view(), name="api-drift"),
    path("alerts", Alerts.as_view(), name="api-alerts"),
    path("proposals", Proposals.as_view(), name="api-proposals"),
    path("proposals/causes", Causes.as_view(), name="api-causes"),
    path("proposals/decide", DecideMany.as_view(), name="api-decide-many"),
    path("proposals/<str:id>", ProposalRecord.as_view(), name="api-proposal"),
    path("proposals/<str:id>/<str:answer>", Answer.as_view(), name="api-answer"),
    path("holds", Holds.as_view(), name="api-holds"),
    path("holds/<str:id>", HoldRecord.as_view(), name="api-hold"),
    path("holds/<str:id>/lift", Lift.as_view(), name="api-lift"),
    path("holds/<str:id>/renew", Renew.as_view(), name="api-renew"),
]
