"""The example organisation at work, and its people signed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import people
from controllers.loop.cycle_run import Means
from controllers.worker import example_organisation, worker_loop
from tests import images
from tests.conftest import Clock

SignIn = Callable[[str], Client]


@pytest.fixture
def clock() -> Clock:
    """Return a clock at the real time: deadlines are held against the database's clock too."""
    clock = Clock()
    clock.now = datetime.now(UTC)
    return clock


@pytest.fixture
def organisation(transactional_db: None, clock: Clock) -> Clock:
    """Load the example, add its people, and let every controller look once."""
    clock.now = images.begin_with("organisation", lambda: found(clock), clock.now)
    return clock


def found(clock: Clock) -> None:
    """Make the organisation and its people, and look."""
    example_organisation.load(clock.now)
    people.ensure_administrator(clock.now)
    people.ensure_samples(clock.now)
    look(clock)


def look(clock: Clock) -> None:
    """Let the loop do everything that is due."""
    worker_loop.work("test", Means(lambda: clock.now))


@pytest.fixture
def sign_in() -> SignIn:
    """Sign somebody of the example in: maya, tomas, ines, vera or admin."""

    def signed_in(username: str) -> Client:
        client = Client()
        client.force_login(User.objects.get(username=username))
        return client

    return signed_in


@pytest.fixture
def maya(organisation: Clock, sign_in: SignIn) -> Client:
    """Return the manager's browser."""
    return sign_in("maya")


@pytest.fixture
def ines(organisation: Clock, sign_in: SignIn) -> Client:
    """Return the operator's browser."""
    return sign_in("ines")


@pytest.fixture
def vera(organisation: Clock, sign_in: SignIn) -> Client:
    """Return the viewer's browser."""
    return sign_in("vera")
