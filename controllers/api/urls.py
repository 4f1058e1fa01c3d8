"""Where the endpoints about controllers are, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from controllers.api.admission.admission import AdmissionRecord, Admissions, Redeem
from controllers.api.admission.usage import Usages
from controllers.api.controllers.alerts import Alerts
from controllers.api.controllers.autonomy import ControllerAutonomy
from controllers.api.controllers.cycles import CycleRecord, Cycles
from controllers.api.controllers.drift import Drift
from controllers.api.controllers.drills import Drills
from controllers.api.controllers.outside import Findings, Heard
from controllers.api.controllers.quality import ControllerQuality, EverybodysQuality, OwnQuality
from controllers.api.controllers.reconcile import Reconcile, ResetBreaker
from controllers.api.controllers.replay import ControllerReplay
from controllers.api.controllers.track_record import AgentRecord, ControllerRecord
from controllers.api.economics.economics import Economics
from controllers.api.holds.holds import HoldRecord, Holds, Lift, Renew
from controllers.api.proposals.answers import Answer, DecideMany
from controllers.api.proposals.proposals import Causes, ProposalRecord, Proposals
from controllers.api.runs.runs import Cancel, RunRecord, Runs, StepReport, Steps
from controllers.api.telemetry.telemetry import Telemetry
from controllers.api.work.actions import Actions, Claim, Heartbeat, ProgressOf, Result

CONTROLLER = "controllers/<str:name>"
RUN = "workflows/<str:name>/runs"

urlpatterns = [
    path(f"{CONTROLLER}/reconcile", Reconcile.as_view(), name="api-reconcile"),
    path(f"{CONTROLLER}/reset-breaker", ResetBreaker.as_view(), name="api-reset-breaker"),
    path(f"{CONTROLLER}/cycles", Cycles.as_view(), name="api-cycles"),
    path(f"{CONTROLLER}/cycles/<str:number>", CycleRecord.as_view(), name="api-cycle"),
    path(f"{CONTROLLER}/cycles/<str:number>/findings", Findings.as_view(), name="api-findings"),
    path(f"{CONTROLLER}/heartbeat", Heard.as_view(), name="api-heard"),
    path(f"{CONTROLLER}/record", ControllerRecord.as_view(), name="api-controller-record"),
    path(f"{CONTROLLER}/autonomy", ControllerAutonomy.as_view(), name="api-autonomy"),
    path(f"{CONTROLLER}/replay", ControllerReplay.as_view(), name="api-replay"),
    path(f"{CONTROLLER}/quality", ControllerQuality.as_view(), name="api-controller-quality"),
    path("people/me/quality", OwnQuality.as_view(), name="api-own-quality"),
    path("people/quality", EverybodysQuality.as_view(), name="api-everybodys-quality"),
    path("agents/<str:name>/record", AgentRecord.as_view(), name="api-agent-record"),
    path("resources/<str:kind>/<str:name>/drift", Drift.as_view(), name="api-drift"),
    path("governance/<str:name>/drills", Drills.as_view(), name="api-drills"),
    path("actions", Actions.as_view(), name="api-actions"),
    path("actions/<str:id>/claim", Claim.as_view(), name="api-claim"),
    path("actions/<str:id>/heartbeat", Heartbeat.as_view(), name="api-heartbeat"),
    path("actions/<str:id>/progress", ProgressOf.as_view(), name="api-progress"),
    path("actions/<str:id>/result", Result.as_view(), name="api-result"),
    path("alerts", Alerts.as_view(), name="api-alerts"),
    path("telemetry", Telemetry.as_view(), name="api-telemetry"),
    path("workflows/steps", Steps.as_view(), name="api-steps"),
    path(RUN, Runs.as_view(), name="api-runs"),
    path(f"{RUN}/<str:id>", RunRecord.as_view(), name="api-run"),
    path(f"{RUN}/<str:id>/cancel", Cancel.as_view(), name="api-run-cancel"),
    path(f"{RUN}/<str:id>/steps/<str:step>", StepReport.as_view(), name="api-run-step"),
    path("proposals", Proposals.as_view(), name="api-proposals"),
    path("proposals/causes", Causes.as_view(), name="api-causes"),
    path("proposals/decide", DecideMany.as_view(), name="api-decide-many"),
    path("proposals/<str:id>", ProposalRecord.as_view(), name="api-proposal"),
    path("proposals/<str:id>/<str:answer>", Answer.as_view(), name="api-answer"),
    path("holds", Holds.as_view(), name="api-holds"),
    path("holds/<str:id>", HoldRecord.as_view(), name="api-hold"),
    path("holds/<str:id>/lift", Lift.as_view(), name="api-lift"),
    path("holds/<str:id>/renew", Renew.as_view(), name="api-renew"),
    path("admission", Admissions.as_view(), name="api-admissions"),
    path("admission/<str:id>", AdmissionRecord.as_view(), name="api-admission"),
    path("admission/<str:id>/redeem", Redeem.as_view(), name="api-redeem"),
    path("usage", Usages.as_view(), name="api-usage"),
    path("economics", Economics.as_view(), name="api-economics"),
]
