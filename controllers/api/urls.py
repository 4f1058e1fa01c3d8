"""Where the endpoints about controllers are, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from controllers.api.alerts import Alerts
from controllers.api.cycles import CycleRecord, Cycles
from controllers.api.drift import Drift
from controllers.api.reconciling import Reconcile, ResetBreaker

CONTROLLER = "controllers/<str:name>"

urlpatterns = [
    path(f"{CONTROLLER}/reconcile", Reconcile.as_view(), name="api-reconcile"),
    path(f"{CONTROLLER}/reset-breaker", ResetBreaker.as_view(), name="api-reset-breaker"),
    path(f"{CONTROLLER}/cycles", Cycles.as_view(), name="api-cycles"),
    path(f"{CONTROLLER}/cycles/<str:number>", CycleRecord.as_view(), name="api-cycle"),
    path("resources/<str:kind>/<str:name>/drift", Drift.as_view(), name="api-drift"),
    path("alerts", Alerts.as_view(), name="api-alerts"),
]
