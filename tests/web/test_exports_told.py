"""Whoever takes a file out is in the ledger: before it leaves, and with how much it was."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import AsyncClient, Client
from django.utils import timezone

from controllers.access import exports, people
from controllers.narrative.event_text import told
from resources.documents.actor import SYSTEM
from resources.store import evidence
from resources.tables.models import LedgerEvent
from tests.conftest import given

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


@pytest.fixture
def ada() -> Client:
    person = User.objects.create_user("ada", first_name="Ada")
    given(person, "viewer")
    client = Client()
    client.force_login(person)
    return client


def entries() -> list[LedgerEvent]:
    return list(LedgerEvent.objects.filter(event__startswith="export.").order_by("id"))


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("/approvals.csv?risk=low", "proposals.csv"),
        ("/resources.csv?risk=low", "resources.csv"),
        ("/controllers.csv?risk=low", "controllers.csv"),
        ("/overrides.csv?risk=low", "overrides.csv"),
        ("/audit.csv?risk=low", "audit-log.csv"),
        ("/audit.csv?format=json&risk=low", "audit-log.json"),
    ],
)
def test_each_file_is_told_with_its_filters(ada: Client, address: str, file: str) -> None:
    assert ada.get(address).getvalue()

    begun, made = entries()
    assert (begun.event, made.event) == ("export.begun", "export.made")
    assert (begun.stream, begun.actor) == ("person/ada", "person/ada")
    assert begun.payload["file"] == made.payload["file"] == file
    assert begun.payload["filters"]["risk"] == "low"
    assert evidence.verify().ok


def test_rows_are_counted_and_headings_are_not(ada: Client) -> None:
    people.add_person("bob", name="Bob", role="Viewers", actor=SYSTEM, now=timezone.now())
    there = LedgerEvent.objects.count()

    written = ada.get("/audit.csv").getvalue().decode()

    assert entries()[1].payload["count"] == there > 0
    assert there == len(written.splitlines()) - 1
    begun, made = told(entries())
    assert (begun.who, begun.text) == ("Ada", "takes audit-log.csv out")
    assert made.text == f"took audit-log.csv out, {there} rows"


def test_a_file_that_broke_off_has_no_end(ada: Client) -> None:
    answer: Any = ada.get("/audit.csv")
    next(iter(answer.streaming_content))
    answer.close()

    assert [each.event for each in entries()] == ["export.begun"]


def test_what_cannot_be_written_down_does_not_leave(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("locked")

    monkeypatch.setattr(exports, "note", fail)
    ada.raise_request_exception = False

    assert ada.get("/resources.csv").status_code == 503
    assert entries() == []


def test_asking_for_the_head_of_a_file_takes_nothing_out(ada: Client) -> None:
    assert ada.head("/resources.csv").status_code == 200

    assert entries() == []


def test_filters_are_kept_in_bounds(ada: Client) -> None:
    asked = "&".join(f"f{number}={'x' * 300}%00%0a" for number in range(40))
    ada.get(f"/overrides.csv?{asked}&empty=").getvalue()

    filters = entries()[0].payload["filters"]
    assert len(filters) == exports.MOST_FILTERS
    assert set(filters.values()) == {"x" * exports.LONGEST_FILTER}


@pytest.mark.django_db(transaction=True)
def test_it_is_the_same_where_the_server_does_not_wait(ada: Client) -> None:
    client = AsyncClient()
    client.cookies = ada.cookies

    assert async_to_sync(fetched)(client, "/controllers.csv")

    assert [each.event for each in entries()] == ["export.begun", "export.made"]


async def fetched(client: AsyncClient, address: str) -> bytes:
    answer: Any = await client.get(address)
    return b"".join([piece async for piece in answer.streaming_content])
