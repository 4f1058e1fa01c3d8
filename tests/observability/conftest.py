"""Fixtures for the tests of what is measured, logged and traced."""

from __future__ import annotations

from tests.decisions.conftest import clock, maya
from tests.resources.conftest import real_database

__all__ = ["clock", "maya", "real_database"]
