"""Carry out what was approved: one critical section, effectively once, never against a hold."""

from __future__ import annotations

from controllers.executing.recovering import recover
from controllers.executing.running import execute, run_due

__all__ = ["execute", "recover", "run_due"]
