"""Fixtures for the tests of the loop and the people."""

from __future__ import annotations

import pytest

from controllers import compiled
from tests.resources.conftest import real_database

__all__ = ["real_database"]


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    """Forget the controllers of the test before: its keys are given out again."""
    compiled.compiled.cache_clear()
