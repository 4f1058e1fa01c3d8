"""People of a small organisation, and a clock that starts now."""

from __future__ import annotations

from tests.decisions.conftest import clock, ines, maya, tomas, vera

__all__ = ["clock", "ines", "maya", "tomas", "vera"]
