"""People of a small organisation, and a clock that starts now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from tests.conftest import Clock
from tests.decisions.making import person


@pytest.fixture
def clock() -> Clock:
    """Return a clock at the real time: deadlines are held against the database's clock too."""
    clock = Clock()
    clock.now = datetime.now(UTC)
    return clock


@pytest.fixture
def maya(clock: Clock) -> User:
    """Return a manager who may decide everywhere."""
    return person(clock, "maya", "approver")


@pytest.fixture
def tomas(clock: Clock) -> User:
    """Return the second manager."""
    return person(clock, "tomas", "approver")


@pytest.fixture
def ines(clock: Clock) -> User:
    """Return an operator."""
    return person(clock, "ines", "operator")


@pytest.fixture
def vera(clock: Clock) -> User:
    """Return a viewer."""
    return person(clock, "vera", "viewer")
