"""Runs that nobody asks for by hand: started by events, and by the clock."""

from __future__ import annotations

from controllers.workflows.triggers.event_triggers import listen
from controllers.workflows.triggers.schedule_triggers import keep_time

__all__ = ["keep_time", "listen"]
