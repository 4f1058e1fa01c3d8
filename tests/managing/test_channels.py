"""Channels on a page: which names lead somewhere, and an address that nobody sees again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from controllers.models import Channel, Delivery
from controllers.notifications import delivery
from controllers.notifications.delivery import services
from resources.tables.models import LedgerEvent
from tests.managing.conftest import confirm, later
from tests.resources.making import apply, made
from tests.rights.world import signed_in

pytestmark = [pytest.mark.filterwarnings("ignore:'imghdr' is deprecated"), pytest.mark.sqlite]
LIST, NEW = "/manage/channels", "/manage/channels/new"
ADDRESS = "mailtos://robot:s3cr3t-w0rd@mail.example.com"


@pytest.fixture(autouse=True)
def _named(_declared: None) -> None:
    paths = [{"level": 1, "role": "lead", "channel": "slack-growth", "timeout": "1h"}]
    rules = made(
        "Governance", "growth-rules", {"domain": "growth", "escalation": {"paths": paths}}
    )
    alerts = {"onDrift": [{"type": "alert", "channels": ["pager"]}]}
    keeper = made("Controller", "keeper", {"actions": alerts})
    assert apply(timezone.now(), rules, keeper).written


def connect(client: Client, name: str = "pager", address: str = ADDRESS) -> Any:
    return client.post(NEW, {"name": name, "address": address})


def test_names_of_documents_are_listed_and_fall_back_to_the_inbox(client: Client) -> None:
    html = client.get(LIST).content.decode()

    assert "0 of 2 connected" in " ".join(html.split())
    for text in ("pager", "controller/keeper", "slack-growth", "governance/growth-rules"):
        assert text in html
    assert "Inbox only" in html


def test_a_channel_is_connected_and_its_address_never_shown(client: Client) -> None:
    assert connect(client).status_code == 303

    html = client.get(LIST).content.decode()
    assert "1 of 2 connected" in " ".join(html.split())
    assert Channel.objects.get().hint in html
    kept = [html, *(str(each.get_decoded()) for each in Session.objects.all())]
    kept += [str(each) for each in LedgerEvent.objects.values_list("payload", flat=True)]
    assert not [each for each in kept if "s3cr3t" in each]
    assert "s3cr3t" not in Channel.objects.get().address


@pytest.mark.parametrize(
    ("name", "address", "sentence"),
    [
        ("pager", "", "Give the service"),
        ("pager", "file:///etc/passwd", "is not a service"),
        ("", ADDRESS, "A channel&#x27;s name"),
        ("a\x00b", ADDRESS, "A channel&#x27;s name"),
    ],
)
def test_what_cannot_be_is_said_and_the_address_is_not_repeated(
    client: Client, name: str, address: str, sentence: str
) -> None:
    answer = connect(client, name, address)

    html = answer.content.decode()
    assert (answer.status_code, Channel.objects.count()) == (400, 0)
    assert sentence in html
    assert "etc/passwd" not in html
    assert "s3cr3t" not in html


def test_a_channel_is_disconnected(client: Client) -> None:
    connect(client)
    where = "/manage/channels/unmap"

    assert "Disconnect pager?" in client.get(f"{where}?name=pager").content.decode()
    assert client.post(where, {"name": "pager"}).status_code == 303
    assert not Channel.objects.exists()
    again = client.post(where, {"name": "pager"})
    assert again.status_code == 404
    assert "No service stands behind" in again.content.decode()


@pytest.mark.parametrize(
    ("error", "said"),
    [("", "The test arrived at pager."), ("It refused.", "did not arrive at pager: It refused.")],
)
def test_a_test_says_what_became_of_it(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: str, said: str
) -> None:
    connect(client)
    monkeypatch.setattr(services, "send", lambda address, letter: error)

    html = client.post("/manage/channels/test", {"name": "pager"}, follow=True).content.decode()

    assert said in html
    assert ("Failing" in html) == bool(error)
    told = list(LedgerEvent.objects.filter(stream="channel/pager").values_list("event", flat=True))
    assert told == ["channel.mapped", "channel.tested"]


def test_a_test_of_nothing_says_so(client: Client) -> None:
    html = client.post("/manage/channels/test", {"name": "x\x00"}, follow=True).content.decode()

    assert "No service stands behind" in html


def test_what_was_given_up_is_shown(client: Client) -> None:
    connect(client)
    now = timezone.now()
    Delivery.objects.create(
        key="lost",
        channel="pager",
        severity="error",
        title="Budget exceeded",
        body="It is.",
        state="given_up",
        run_at=now,
        created_at=now,
        error="It answered 500.",
    )

    html = client.get(LIST).content.decode()

    assert "Budget exceeded" in html
    assert "It answered 500." in html
    assert "1 given up" in html


def test_an_administrator_of_a_domain_does_not_come_here(gil: User, audrey: User) -> None:
    assert signed_in(gil).get(LIST).status_code == 403
    assert signed_in(gil).get(NEW).status_code == 403
    assert connect(signed_in(gil)).status_code == 403
    reader = signed_in(audrey)
    html = reader.get(LIST).content.decode()
    assert NEW not in html
    assert reader.post("/manage/channels/test", {"name": "pager"}).status_code == 403
    assert reader.post("/manage/channels/unmap", {"name": "pager"}).status_code == 403
    assert connect(reader).status_code == 403


def test_who_signed_in_long_ago_confirms_before_they_type_an_address(stale: Client) -> None:
    with later():
        asked = stale.get(f"{NEW}?name=pager")
        page = stale.get(confirm(stale, asked["Location"])).content.decode()
        assert 'value="pager"' in page
        assert connect(stale).status_code == 303


def test_an_address_is_not_kept_while_somebody_confirms(stale: Client) -> None:
    with later():
        asked = connect(stale)

        assert asked["Location"].startswith("/sign-in/again/")
        assert not Channel.objects.exists()
        assert "s3cr3t" not in str([each.get_decoded() for each in Session.objects.all()])
        assert 'value="pager"' in stale.get(confirm(stale, asked["Location"])).content.decode()


def test_messages_are_counted_by_what_became_of_them() -> None:
    now = timezone.now()
    for number, (state, sent) in enumerate(
        [("sent", now), ("waiting", None), ("given_up", None), ("in_app", None)]
    ):
        Delivery.objects.create(
            key=str(number),
            channel="pager",
            severity="info",
            title="t",
            body="b",
            state=state,
            run_at=now,
            created_at=now,
            sent_at=sent,
        )

    (pager,) = [each for each in delivery.named(now) if each.name == "pager"]
    assert (pager.sent_at, pager.waiting, pager.given_up, pager.in_app) == (now, 1, 1, 1)
    (later_on,) = [each for each in delivery.named(now + timedelta(31)) if each.name == "pager"]
    assert (later_on.sent_at, later_on.waiting) == (None, 0)
