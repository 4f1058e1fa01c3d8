"""People signed in, and a small harbour to edit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import people
from resources.documents.actor import SYSTEM
from tests.conftest import Clock
from tests.resources.making import apply, made

SignIn = Callable[[str], Client]


@pytest.fixture
def sign_in(db: None, clock: Clock) -> SignIn:
    """Sign somebody of a role in."""

    def signed_in(role: str) -> Client:
        names = {"Operators": "Ines Okafor", "Administrators": "Ada Quist"}
        name = names.get(role, "Vera Lind")
        username = name.split()[0].lower()
        user = User.objects.filter(username=username).first() or people.add_person(
            username, name=name, role=role, actor=SYSTEM, now=clock.now
        )
        client = Client()
        client.force_login(user)
        return client

    return signed_in


@pytest.fixture
def administrator(sign_in: SignIn) -> Client:
    return sign_in("Administrators")


@pytest.fixture
def operator(sign_in: SignIn) -> Client:
    return sign_in("Operators")


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in("Viewers")


@pytest.fixture
def harbour(db: None, clock: Clock) -> Any:
    """Put a domain and an agent into the store."""
    return apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
