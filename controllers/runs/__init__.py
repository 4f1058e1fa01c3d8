"""Runs of workflows: started with a pinned declaration, carried by agents, decided by people."""

from __future__ import annotations

from controllers.runs.cancelling import cancel
from controllers.runs.carrying import carry_out
from controllers.runs.finding import steps_for, visible
from controllers.runs.moves import Forbidden, Missing, Refused, Stop, Taken
from controllers.runs.reporting import Cost, Said, report
from controllers.runs.starting import Started, Wish, start, start_by_itself
from controllers.runs.tending import sweep

__all__ = [
    "Cost",
    "Forbidden",
    "Missing",
    "Refused",
    "Said",
    "Started",
    "Stop",
    "Taken",
    "Wish",
    "cancel",
    "carry_out",
    "report",
    "start",
    "start_by_itself",
    "steps_for",
    "sweep",
    "visible",
]
