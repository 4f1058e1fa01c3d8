"""Controllers that others run: the same rules, modes and holds, by the same functions.

An outside process opens a cycle under a lease, reports what it found, and closes it. What follows
from its findings is worked out here as for our own controllers; what it may do it claims as work.
"""

from __future__ import annotations

from controllers.worker.external_controllers.cycle_close import End, close
from controllers.worker.external_controllers.findings_report import (
    FencedCycle,
    Heard,
    ProposedStep,
    Reported,
    report,
)
from controllers.worker.external_controllers.leadership import (
    Begun,
    ControllerDirectives,
    begin,
    declared,
    heartbeat,
    told,
)

__all__ = [
    "Begun",
    "ControllerDirectives",
    "End",
    "FencedCycle",
    "Heard",
    "ProposedStep",
    "Reported",
    "begin",
    "close",
    "cycle_close",
    "declared",
    "findings_report",
    "heartbeat",
    "report",
    "told",
]
