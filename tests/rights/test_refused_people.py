"""What a person tried and may not is written down for others, and not more often than needed."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import AsyncClient, Client

from controllers.access import refusal_log
from controllers.narrative.event_text import told
from resources.api import rate_limits
from resources.store import evidence
from resources.tables.models import LedgerEvent
from tests.conftest import given

pytestmark = pytest.mark.django_db
INVITE = "/people/invite"
WISH = {"username": "nadia", "name": "Nadia", "role": "viewer", "domain": ""}


@pytest.fixture(autouse=True)
def nothing_recent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the test before was refused."""
    monkeypatch.setattr(rate_limits, "local", rate_limits.Local())


@pytest.fixture
def vera() -> Client:
    person = User.objects.create_user("vera", first_name="Vera")
    given(person, "viewer")
    client = Client()
    client.force_login(person)
    return client


def entries() -> list[LedgerEvent]:
    return list(LedgerEvent.objects.filter(event="person.refused").order_by("id"))


def test_a_use_case_that_says_no_is_written_down(vera: Client) -> None:
    assert vera.post(INVITE, WISH).status_code == 403

    (entry,) = entries()
    assert (entry.stream, entry.actor, entry.severity) == (*["person/vera"] * 2, "warning")
    assert entry.payload == {"tried": f"POST {INVITE}"}
    (read,) = told([entry])
    assert (read.who, read.text, read.tone) == (
        "Vera",
        f"tried POST {INVITE} and may not",
        "danger",
    )
    assert evidence.verify().ok


def test_the_api_gives_its_reason(vera: Client) -> None:
    answer = vera.post("/api/v1/holds", {"scope": "organisation"}, "application/json")
    body = {"kind": "stop", "scope": "organisation", "reason": "Fire."}
    answer = vera.post("/api/v1/holds", body, "application/json")

    assert answer.status_code == 403
    (entry,) = entries()
    assert entry.payload["tried"] == "POST /api/v1/holds"
    assert entry.payload["detail"] == answer.json()["detail"]
    assert told([entry])[0].text.endswith(answer.json()["detail"])
    assert told([entry])[0].quote == ""


def test_a_loop_is_written_down_once_for_each_sort_of_address(vera: Client) -> None:
    nadia = User.objects.create_user("nadia")
    given(nadia, "viewer")
    for _ in range(5):
        vera.post(INVITE, WISH)
        vera.post(f"/people/{nadia.pk}/link")
        vera.post(f"/people/{User.objects.get(username='vera').pk}/link")

    assert [each.payload["tried"] for each in entries()] == [
        f"POST {INVITE}",
        f"POST /people/{nadia.pk}/link",
    ]


def test_others_are_counted_by_themselves(vera: Client) -> None:
    wren = User.objects.create_user("wren")
    given(wren, "auditor")
    other = Client()
    other.force_login(wren)
    for client in (vera, other):
        client.post(INVITE, WISH)

    assert [each.actor for each in entries()] == ["person/vera", "person/wren"]


def test_looking_leaves_nothing(vera: Client) -> None:
    assert vera.get("/admin/").status_code in (302, 403)
    assert vera.get("/apply").status_code in (403, 404)
    assert vera.get("/api/v1/quality").status_code in (403, 404)

    assert entries() == []


def test_what_is_not_there_for_somebody_leaves_nothing(vera: Client) -> None:
    assert vera.post("/approvals/999/approve", {"reason": "x"}).status_code == 404
    assert vera.post("/people/999/link").status_code == 404

    assert entries() == []


def test_a_form_from_elsewhere_says_nothing_of_rights(vera: Client) -> None:
    assert vera.post(INVITE, WISH, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="vera"))
    assert strict.post(INVITE, WISH).status_code == 403
    assert strict.post("/api/v1/holds", {}, "application/json").status_code == 403

    assert entries() == []


def test_a_database_that_does_not_answer_does_not_change_the_refusal(
    vera: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("locked")

    monkeypatch.setattr(refusal_log, "write", fail)

    assert vera.post(INVITE, WISH).status_code == 403


def test_a_path_is_written_down_as_plain_letters_and_not_too_long() -> None:
    said = refusal_log.spelt("PUT", "/api/v1/resources/agent/<b>\u202e" + "x" * 900)

    assert said.startswith("PUT /api/v1/resources/agent/%3Cb%3E%E2%80%AEx")
    assert len(said) <= refusal_log.LONGEST_PATH + 10


@pytest.mark.django_db(transaction=True)
def test_it_is_the_same_where_the_server_does_not_wait(vera: Client) -> None:
    client = AsyncClient()
    client.cookies = vera.cookies

    assert async_to_sync(client.post)(INVITE, WISH).status_code == 403

    assert len(entries()) == 1
