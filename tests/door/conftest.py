"""People with passwords at the door."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.access import people
from resources.documents.actor import SYSTEM
from tests.resources.conftest import real_database as real_database

PASSWORD = "correct horse battery"
Enter = Callable[..., Client]


@pytest.fixture(autouse=True)
def quick(settings: object) -> None:
    """Hash quickly: how slow it is to guess is not looked at here."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # type: ignore[attr-defined]


def person(name: str, role: str = "Viewers", password: str = PASSWORD) -> User:
    """Add somebody with a password."""
    user = people.add_person(name, name=name.title(), role=role, actor=SYSTEM, now=timezone.now())
    if password:
        user.set_password(password)
        user.save()
    return user


@pytest.fixture
def maya(db: None) -> User:
    """Return somebody who decides."""
    return person("maya", "Approvers")


@pytest.fixture
def admin(db: None) -> User:
    """Return an administrator."""
    return person("ada", "Administrators")


@pytest.fixture
def enter() -> Enter:
    """Sign somebody in by name and password, as a browser does."""

    def entered(name: str, password: str = PASSWORD, **headers: str) -> Client:
        client = Client(headers=headers)
        answer = client.post("/sign-in/", {"login": name, "password": password})
        assert answer.status_code == 302, answer.content[-2000:]
        return client

    return entered
