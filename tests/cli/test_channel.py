"""`ioa channel` says which services stand behind channels."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.models import Channel, Grant
from ioa_site.work import caller
from resources.documents.actor import Actor
from tests.cli.conftest import Run
from tests.decisions.mailing import Service, running

pytestmark = pytest.mark.django_db

SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
Typed = Callable[[str], None]


@pytest.fixture(autouse=True)
def ada(monkeypatch: pytest.MonkeyPatch) -> User:
    """An administrator, who is at the keyboard."""
    monkeypatch.setattr(caller, "person", lambda: Actor("person", "ada"))
    user = User.objects.create(username="ada")
    now = datetime.now(UTC)
    Grant.objects.create(person=user, role="administrator", granted_by="x", granted_at=now)
    return user


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Let standard input hold a text."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.fixture
def service(settings: Any) -> Iterator[Service]:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with running() as server:
        yield server


def test_a_channel_is_set_from_standard_input_and_listed_without_its_secret(
    ioa: Run, typed: Typed
) -> None:
    typed(f"{SLACK}\n")

    made, listed = ioa("channel", "set", "slack-ops"), ioa("channel", "list")

    assert (made.code, made.out) == (0, "Messages on slack-ops go to slack://…i7FQ.\n")
    assert "slack-ops" in listed.out
    assert "slack://…i7FQ" in listed.out
    assert "person/ada" in listed.out
    assert "TIiajkdn" not in made.out + made.err + listed.out


def test_a_person_is_asked_without_showing_what_they_type(
    ioa: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def hidden(prompt: str) -> str:
        asked.append(prompt)
        return SLACK

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("getpass.getpass", hidden)

    assert ioa("channel", "set", "slack-ops").code == 0
    assert asked == ["Address of slack-ops: "]


def test_an_address_is_never_taken_from_the_command_line(ioa: Run) -> None:
    assert ioa("channel", "set", "slack-ops", SLACK).code == 2
    assert not Channel.objects.exists()


def test_a_removed_channel_is_no_longer_listed(ioa: Run, typed: Typed) -> None:
    typed(SLACK)
    ioa("channel", "set", "slack-ops")

    removed = ioa("channel", "remove", "slack-ops")

    assert removed.out == "Messages on slack-ops stay in the product.\n"
    assert ioa("channel", "list").out == "There are no channels.\n"


def test_a_test_message_arrives_or_says_why_not(ioa: Run, typed: Typed, service: Service) -> None:
    typed(service.address)
    ioa("channel", "set", "ops")

    good = ioa("channel", "test", "ops")
    service.status = 404
    bad = ioa("channel", "test", "ops")

    assert (good.code, good.out) == (0, "A test message was sent to ops.\n")
    assert service.titles == ["Test of ops"]
    assert (bad.code, bad.out) == (1, "")
    assert "It did not arrive: The service answered 404." in bad.err
    assert "The service answered 404." in ioa("channel", "list").out


def test_somebody_else_can_be_named(ioa: Run, typed: Typed, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(username="grace")
    typed(SLACK)

    refused = ioa("channel", "set", "slack-ops")
    typed(SLACK)
    done = ioa("channel", "set", "slack-ops", "--as", "grace")

    assert refused.code == 1
    assert "There is no active person called ada: say who you are with --as." in refused.err
    assert done.code == 0
    assert Channel.objects.get().changed_by == "person/grace"


@pytest.mark.parametrize(
    ("arguments", "text", "expected"),
    [
        (("set", "ops"), "file:///etc/passwd", "'file' is not a service"),
        (("set", "ops"), "", "Give the service's address"),
        (("set", " ops"), SLACK, "A channel's name"),
        (("remove", "ops"), "", "No service stands behind 'ops'."),
        (("test", "ops"), "", "No service stands behind 'ops'."),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    ioa: Run, typed: Typed, arguments: tuple[str, ...], text: str, expected: str
) -> None:
    typed(text)

    ran = ioa("channel", *arguments)

    assert (ran.code, ran.out) == (1, "")
    assert expected in ran.err


def test_only_administrators_may(ioa: Run, typed: Typed) -> None:
    Grant.objects.update(role="operator")
    typed(SLACK)

    ran = ioa("channel", "set", "slack-ops")

    assert ran.code == 1
    assert "Only administrators look after channels." in ran.err
