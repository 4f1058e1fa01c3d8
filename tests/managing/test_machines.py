"""Machines on a page: entered, given new secrets, switched off, and what they did not do."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.common import secrets
from controllers.models import Endpoint, Step
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.decisions import making
from tests.managing.conftest import confirm, later
from tests.rights.world import signed_in

pytestmark = pytest.mark.sqlite

LIST, NEW = "/manage/machines", "/manage/machines/new"
WISH = {"name": "rig", "url": "https://rig.example.com/hook", "operations": ["restart"]}


def secret_in(answer: Any) -> str:
    found = re.search(r'id="secret">(whsec_[^<]+)<', answer.content.decode())
    assert found is not None, answer.status_code
    return found[1]


def test_a_machine_is_entered_and_its_secret_shown_once(client: Client) -> None:
    answer = client.post(NEW, WISH)

    secret = secret_in(answer)
    assert answer["Cache-Control"] == "no-store"
    assert secrets.decrypt(Endpoint.objects.get().secret) == secret
    html = client.get(LIST).content.decode()
    assert "https://rig.example.com/hook" in html
    assert secret not in html
    assert secret not in str(list(LedgerEvent.objects.values_list("payload", flat=True)))


@pytest.mark.parametrize(
    "typed",
    [
        {"url": "http://rig.example.com/"},
        {"url": "https://name:word@rig.example.com/"},
        {"url": "https://rig.example.com:0/"},
        {"url": "javascript:alert(1)"},
        {"name": "Rig One"},
        {"name": "\x00"},
        {"operations": []},
        {"operations": ["dance"]},
    ],
)
def test_what_cannot_be_is_said_and_kept(client: Client, typed: dict[str, Any]) -> None:
    answer = client.post(NEW, WISH | typed)

    html = answer.content.decode()
    assert (answer.status_code, Endpoint.objects.count()) == (400, 0)
    assert 'role="alert"' in html
    assert ('value="https://rig.example.com/hook"' in html) == ("url" not in typed)


def test_a_query_in_an_address_is_not_shown(client: Client) -> None:
    client.post(NEW, WISH | {"url": "https://rig.example.com/hook?key=s3cr3t"})

    assert "s3cr3t" not in client.get(LIST).content.decode()


def test_a_new_secret_signs_beside_the_former_one(client: Client) -> None:
    first = secret_in(client.post(NEW, WISH))
    where = "/manage/machines/rig/rotate"

    assert "Make a new secret for rig?" in client.get(where).content.decode()
    second = secret_in(client.post(where))

    assert secrets.decrypt(Endpoint.objects.get().secret).split() == [second, first]


def test_a_machine_is_switched_off_and_on(client: Client) -> None:
    client.post(NEW, WISH)
    where = "/manage/machines/rig/switch"

    assert "rig is off." in client.post(where, {"do": "off"}, follow=True).content.decode()
    assert not Endpoint.objects.get().enabled
    assert "0 of 1 on" in " ".join(client.get(LIST).content.decode().split())
    assert "rig is on." in client.post(where, {"do": "on"}, follow=True).content.decode()
    told = LedgerEvent.objects.filter(stream="endpoint/rig").order_by("seq")
    assert [each.event for each in told] == [
        "endpoint.registered",
        "endpoint.disabled",
        "endpoint.enabled",
    ]


def test_what_it_did_not_do_is_shown(client: Client) -> None:
    client.post(NEW, WISH)
    clock = Clock()
    clock.now = timezone.now()
    proposal = making.proposal(clock, Resource.objects.get(name="growth-scribe"))
    for days, error in ((1, "It refused with 403."), (8, "Long ago.")):
        Step.objects.create(
            proposal=proposal,
            sequence=days,
            operation="restart",
            executor="webhook",
            idempotent=True,
            state="failed",
            key=str(days),
            claimed_by="endpoint/rig",
            ended_at=clock.now - timedelta(days=days),
            error=error,
        )

    html = client.get(LIST).content.decode()

    assert "It refused with 403." in html
    assert "Long ago." not in html
    assert "1 with failures this week" in html


def test_an_administrator_of_a_domain_looks_after_its_own(
    gil: User, client: Client, audrey: User
) -> None:
    client.post(NEW, WISH | {"domain": "finance"})
    browser = signed_in(gil)

    assert browser.post(NEW, WISH | {"name": "own", "domain": "finance"}).status_code == 403
    assert browser.post(NEW, WISH | {"name": "own"}).status_code == 403
    assert secret_in(browser.post(NEW, WISH | {"name": "own", "domain": "growth"}))
    html = browser.get(LIST).content.decode()
    assert "own" in html
    assert "for finance" not in html
    assert browser.post("/manage/machines/rig/rotate").status_code == 404
    assert browser.post("/manage/machines/rig/switch").status_code == 404
    reader = signed_in(audrey)
    assert "for finance" in reader.get(LIST).content.decode()
    assert reader.post("/manage/machines/rig/rotate").status_code == 403
    assert reader.post("/manage/machines/rig/switch").status_code == 403


def test_who_signed_in_long_ago_confirms_first(stale: Client) -> None:
    with later():
        asked = stale.post(NEW, WISH)
        assert not Endpoint.objects.exists()
        page = stale.get(confirm(stale, asked["Location"])).content.decode()
        assert 'value="rig"' in page
        assert re.search(r'value="restart"[^>]* checked', page)
        assert secret_in(stale.post(NEW, WISH))
