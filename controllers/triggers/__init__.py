"""Runs that nobody asks for by hand: started by events, and by the clock."""

from __future__ import annotations

from controllers.triggers.listening import listen
from controllers.triggers.timing import keep_time

__all__ = ["keep_time", "listen"]
