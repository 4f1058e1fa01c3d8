"""The ledger, its checkpoints and the revisions are read, never written."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from resources.tables.models import Checkpoint, LedgerEvent, ResourceRevision
from tests.admin.pages import of, said
from tests.conftest import Clock
from tests.resources.making import live, report

pytestmark = pytest.mark.django_db

MODELS = ("ledgerevent", "checkpoint", "resourcerevision")


def listed(model: str) -> str:
    return reverse(f"admin:resources_{model}_changelist")


@pytest.fixture
def written(harbour: Any, clock: Clock) -> None:
    """Let there be an entry of every sort."""
    report(clock.now, "robin", {"state": "running"})
    # A real one waits until nothing is open, and a test is an open transaction.
    Checkpoint.objects.create(number=1, after=0, upto=1, count=1, root="0" * 64, at=clock.now)


@pytest.mark.parametrize("model", MODELS)
def test_nobody_can_write_them(written: None, administrator: Client, model: str) -> None:
    key = {
        "ledgerevent": LedgerEvent,
        "checkpoint": Checkpoint,
        "resourcerevision": ResourceRevision,
    }[model]._default_manager.first()
    assert key

    add = administrator.post(reverse(f"admin:resources_{model}_add"), {})
    change = administrator.post(reverse(f"admin:resources_{model}_change", args=[key.pk]), {})
    delete = administrator.post(
        reverse(f"admin:resources_{model}_delete", args=[key.pk]), {"post": "yes"}
    )

    assert add.status_code == delete.status_code == 403
    assert change.status_code in (302, 403)


@pytest.mark.parametrize("model", MODELS)
def test_they_can_be_read(written: None, administrator: Client, model: str) -> None:
    page = administrator.get(listed(model))

    assert page.status_code == 200
    assert page.context["cl"].result_count > 0


@pytest.mark.parametrize(
    ("query", "events"),
    [
        ({"q": "agent/robin"}, {"resource.created", "resource.status-reported"}),
        ({"q": "agent/rob"}, set()),
        ({"event": "resource.status-reported"}, {"resource.status-reported"}),
        ({"event": "\x00"}, set()),
        ({"category": "log"}, {"resource.status-reported"}),
    ],
)
def test_the_ledger_is_searched_and_narrowed(
    written: None, administrator: Client, query: dict[str, str], events: set[str]
) -> None:
    page = administrator.get(listed("ledgerevent"), query)

    assert {each.event for each in page.context["cl"].result_list} == events


def test_the_ledger_is_searched_by_story(written: None, administrator: Client) -> None:
    entry = LedgerEvent.objects.filter(event="resource.status-reported").get()

    page = administrator.get(listed("ledgerevent"), {"q": entry.correlation_id})

    assert list(page.context["cl"].result_list) == [entry]


def test_an_entry_shows_its_payload(written: None, administrator: Client) -> None:
    entry = LedgerEvent.objects.filter(event="resource.created", subject="agent/robin").get()

    page = administrator.get(reverse("admin:resources_ledgerevent_change", args=[entry.pk]))

    assert "generation: 1" in said(page)
    assert entry.hash in said(page)


def test_no_list_counts_a_whole_table(
    written: None, administrator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.admin.records.NEWEST", 1)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = administrator.get(listed("ledgerevent"))

    counts = [each["sql"] for each in queries if "COUNT(" in each["sql"]]
    assert counts
    assert all("LIMIT 1" in sql for sql in counts)
    assert "The newest 1 ledger events." in said(page)


def test_a_revision_opens_in_its_resources_history(written: None, administrator: Client) -> None:
    row = live("Agent", "robin")
    revision = row.revisions.order_by("resource_version")[0]

    answer = administrator.get(
        reverse("admin:resources_resourcerevision_change", args=[revision.pk])
    )

    assert answer.headers["Location"] == of(
        "Agent", "robin", "revision", revision.resource_version
    )


@pytest.mark.parametrize("key", ["0", "x", "9" * 5000])
def test_a_revision_that_is_none_leads_back_to_the_list(administrator: Client, key: str) -> None:
    answer = administrator.get(reverse("admin:resources_resourcerevision_change", args=[key]))

    assert answer.headers["Location"] == listed("resourcerevision")


def test_revisions_are_narrowed_by_kind(written: None, administrator: Client) -> None:
    page = administrator.get(listed("resourcerevision"), {"kind": "domain"})

    assert {each.kind for each in page.context["cl"].result_list} == {"Domain"}


def test_an_operator_does_not_read_the_ledger(written: None, operator: Client) -> None:
    assert operator.get(listed("ledgerevent")).status_code == 403
    assert operator.get(listed("checkpoint")).status_code == 403
