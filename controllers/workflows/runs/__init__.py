"""Runs of workflows: started with a pinned declaration, carried by agents, decided by people."""

from __future__ import annotations

from controllers.workflows.runs.approved_effects import carry_out
from controllers.workflows.runs.cancellation import cancel
from controllers.workflows.runs.deadlines import sweep
from controllers.workflows.runs.run_queries import steps_for, visible
from controllers.workflows.runs.run_start import RunRequest, Started, start, start_by_itself
from controllers.workflows.runs.step_reports import AgentStepReport, Cost, report

__all__ = [
    "AgentStepReport",
    "Cost",
    "RunRequest",
    "Started",
    "cancel",
    "carry_out",
    "quotation",
    "report",
    "run_end",
    "run_plan",
    "start",
    "start_by_itself",
    "steps_for",
    "sweep",
    "visible",
]
