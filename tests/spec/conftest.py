"""Fixtures for the conformance tests."""

from __future__ import annotations

import pytest

from tests.conftest import Clock
from tests.spec import organisation


@pytest.fixture
def three_domains(db: None, clock: Clock) -> None:
    """The controller of section 2.1 over three healthy domains with a budget and a policy."""
    organisation.found(clock)
