"""What a token tried and may not is written down for people, and not more often than needed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from controllers.narrative.event_text import told
from resources.api import refusals
from resources.api.rate_limits import Local
from resources.store import evidence
from resources.tables.models import LedgerEvent
from resources.usecases import tokens
from tests.api.conftest import Api
from tests.api.test_problems import assert_problem

pytestmark = pytest.mark.django_db

OWN = "resources/agent/robin/status"
THEIRS = "resources/agent/wren/status"


@pytest.fixture(autouse=True)
def nothing_recent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the test before was refused."""
    monkeypatch.setattr(refusals, "recent", Local())


def entries() -> list[LedgerEvent]:
    return list(LedgerEvent.objects.filter(event="token.refused").order_by("id"))


def test_what_is_for_people_is_written_down_when_a_token_tries_it(robin: Api) -> None:
    answer = robin.post("apply", {})

    said = assert_problem(answer, 403, "forbidden")
    (entry,) = entries()
    assert (entry.actor, entry.subject, entry.severity) == ("agent/robin",) * 2 + ("warning",)
    assert entry.payload["tried"] == "POST /api/v1/apply"
    assert entry.payload["reason"] == said["detail"]
    (read,) = told([entry])
    assert (read.who, read.tone) == ("robin", "danger")
    assert read.text == f"tried POST /api/v1/apply and may not: {said['detail']}"
    assert evidence.verify().ok


def test_the_same_sort_of_call_is_written_down_once_a_minute(robin: Api) -> None:
    for number in range(5):
        robin.post(f"proposals/{number}/approve", {})
        robin.post(f"holds/{number}/lift", {})

    assert [each.payload["tried"] for each in entries()] == [
        "POST /api/v1/proposals/0/approve",
        "POST /api/v1/holds/0/lift",
    ]


def test_another_agents_status_is_written_down_however_it_is_sent(robin: Api) -> None:
    robin.patch(THEIRS, {"queueLength": 1})
    items = [{"kind": "Agent", "name": "wren", "status": {}}] * 3
    robin.post("observations", {"items": items})

    assert [each.payload["tried"] for each in entries()] == [
        f"PATCH /api/v1/{THEIRS}",
        "POST /api/v1/observations",
    ]


def test_a_path_is_written_down_as_plain_letters_and_not_too_long(robin: Api) -> None:
    robin.send("put", "resources/agent/%3Cb%3E%E2%80%AE" + "x" * 900, {})

    (entry,) = entries()
    assert entry.payload["tried"].startswith("PUT /api/v1/resources/agent/%3Cb%3E%E2%80%AEx")
    assert len(entry.payload["tried"]) <= 210


@pytest.mark.parametrize(
    ("method", "path"), [("get", "audit/verify"), ("get", "resources/agent/wren"), ("patch", OWN)]
)
def test_what_is_read_allowed_or_unknown_is_not(robin: Api, method: str, path: str) -> None:
    getattr(robin, method)(path, *([{}] if method == "patch" else []))

    assert entries() == []


def test_what_a_person_may_not_is_not_written_down(bob: Api, organisation: None) -> None:
    assert bob.post("apply", {"kind": "Domain"}).status_code in (400, 403)
    assert bob.patch(OWN, {}).status_code == 403

    assert entries() == []


def test_a_database_that_does_not_answer_does_not_change_the_refusal(
    robin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("locked")

    monkeypatch.setattr(tokens, "note_refused", fail)

    assert_problem(robin.post("apply", {}), 403, "forbidden")
