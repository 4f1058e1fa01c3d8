"""Override drills: an override that was never tried is none, so the live system is tried."""

from __future__ import annotations

from controllers.worker.drills.drill_run import ask, domain_of, find, run
from controllers.worker.drills.upkeep import every, next_at, sweep

__all__ = ["ask", "domain_of", "every", "find", "next_at", "run", "sweep"]
