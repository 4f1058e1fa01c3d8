"""Override drills: an override that was never tried is none, so the live system is tried."""

from __future__ import annotations

from controllers.drills.running import Missing, Refused, ask, domain_of, find, run
from controllers.drills.sweeping import every, next_at, sweep

__all__ = ["Missing", "Refused", "ask", "domain_of", "every", "find", "next_at", "run", "sweep"]
