"""Fixtures for the tests of the loop and the people."""

from __future__ import annotations

from tests.resources.conftest import real_database

__all__ = ["real_database"]
