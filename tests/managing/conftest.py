"""An organisation of two domains, and people who look after it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.conftest import given
from tests.door.conftest import PASSWORD
from tests.door.conftest import quick as quick
from tests.resources.making import apply, made
from tests.rights.world import signed_in

Opened = Callable[..., Client]
LATER = timedelta(minutes=11)


@pytest.fixture(autouse=True)
def _declared(db: None) -> None:
    for domain in ("growth", "finance"):
        outcome = apply(
            timezone.now(),
            made("Domain", domain),
            made("Agent", f"{domain}-scribe", {"domain": domain}),
        )
        assert outcome.written


def someone(name: str, *roles: str, domain: str = "") -> User:
    """Add somebody who holds some roles."""
    return given(User.objects.create(username=name), *roles, domain=domain)


@pytest.fixture
def ada() -> User:
    """Return who administers the organisation."""
    return someone("ada", "administrator")


@pytest.fixture
def gil() -> User:
    """Return who administers growth alone."""
    return someone("gil", "administrator", domain="growth")


@pytest.fixture
def audrey() -> User:
    """Return who reads everything and changes nothing."""
    return someone("audrey", "auditor")


@pytest.fixture
def vic() -> User:
    """Return who only looks."""
    return someone("vic", "viewer")


@pytest.fixture
def client(ada: User) -> Client:
    """Return the browser of who administers the organisation."""
    return signed_in(ada)


@pytest.fixture
def stale(ada: User) -> Client:
    """Return their browser when they signed in by password a while ago."""
    ada.set_password(PASSWORD)
    ada.save()
    client = Client()
    client.post("/sign-in/", {"login": "ada", "password": PASSWORD})
    return client


def later() -> time_machine.travel:
    """Go on when a sign-in is no longer fresh."""
    return time_machine.travel(timezone.now() + LATER)


def confirm(client: Client, there: str) -> str:
    """Confirm that it is you; return where that leads back to."""
    assert there.startswith("/sign-in/again/?next="), there
    answer = client.post(there, {"password": PASSWORD})
    return str(answer["Location"])
