"""`ioa endpoint` enters the machines that carry operations out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from controllers.common import secrets
from controllers.models import Endpoint, Grant
from ioa_site.work import caller
from resources.documents.actor import Actor
from tests.cli.conftest import Run

pytestmark = pytest.mark.django_db

ADD = ("endpoint", "add", "robots", "https://robots.example.com/ioa", "--operation", "restart")


@pytest.fixture(autouse=True)
def ada(monkeypatch: pytest.MonkeyPatch) -> User:
    """An administrator, who is at the keyboard."""
    monkeypatch.setattr(caller, "person", lambda: Actor("person", "ada"))
    user = User.objects.create(username="ada")
    now = datetime.now(UTC)
    Grant.objects.create(person=user, role="administrator", granted_by="x", granted_at=now)
    return user


def test_an_endpoint_is_entered_and_its_secret_shown_once(ioa: Run) -> None:
    added = ioa(*ADD)
    secret = added.out.splitlines()[-1]
    listed = ioa("endpoint", "list")

    assert added.code == 0
    assert secrets.decrypt(Endpoint.objects.get().secret) == secret
    assert "robots" in listed.out
    assert "restart" in listed.out
    assert secret not in listed.out


def test_a_rotated_secret_signs_beside_the_former(ioa: Run) -> None:
    former = ioa(*ADD).out.splitlines()[-1]
    new = ioa("endpoint", "rotate", "robots").out.splitlines()[-1]

    assert secrets.decrypt(Endpoint.objects.get().secret).split() == [new, former]


def test_an_endpoint_is_switched_off_and_on(ioa: Run) -> None:
    ioa(*ADD)

    assert ioa("endpoint", "off", "robots").code == 0
    assert not Endpoint.objects.get().enabled
    assert ioa("endpoint", "on", "robots").code == 0
    assert Endpoint.objects.get().enabled


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "robots", "http://127.0.0.1/ioa", "--operation", "restart"),
        ("add", "robots", "https://robots.example.com/ioa"),
        ("add", "robots", "https://robots.example.com/ioa", "--operation", "dance"),
        ("rotate", "nobody"),
        ("off", "nobody"),
    ],
)
def test_what_makes_no_sense_ends_with_a_sentence(ioa: Run, arguments: tuple[str, ...]) -> None:
    refused = ioa("endpoint", *arguments)

    assert refused.code == 1
    assert refused.err.strip().endswith(".")
    assert not Endpoint.objects.exists()


def test_only_an_administrator_may(ioa: Run) -> None:
    Grant.objects.update(role="operator")

    assert "Only an administrator" in ioa(*ADD).err
    assert not Endpoint.objects.exists()


def test_an_empty_list_says_so(ioa: Run) -> None:
    assert ioa("endpoint", "list").out == "There are no endpoints.\n"
