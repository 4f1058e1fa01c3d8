"""Every hostile document where agents write: never a crash, never half a write, one verdict."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from controllers.models import RunStep, TelemetryEvent, WorkflowRun
from resources.tables.models import LedgerEvent
from tests.api.conftest import Api, agent, apply, domain, issue
from tests.api.test_runs import workflow
from tests.hostile.conftest import Alone
from tests.hostile.probes import PROBES
from tests.tiers import quick_first

pytestmark = pytest.mark.django_db

HANDS = 8
probing = pytest.mark.parametrize("hand", quick_first(range(HANDS), 2))
JSON_PROBES = [each for each in PROBES if each.media == "json"]


@pytest.fixture
def robin() -> Api:
    """Return an agent; an exception in a view is an answer here, not a crash."""
    apply(domain("growth"), domain("finance"), agent("robin", "growth"), workflow())
    return Api(Client(raise_request_exception=False), issue("robin"))


def judged(answer: Any) -> bool:
    """Tell whether it was taken; what was not says so in words."""
    if answer.status_code in (200, 201):
        return True
    assert answer.status_code in (400, 409, 413), answer.content[:500]
    assert answer.json()["detail"]
    return False


@probing
def test_an_event_is_taken_or_refused_whole(robin: Api, hand: int, alone: Alone) -> None:
    for probe in JSON_PROBES[hand::HANDS]:
        with alone(probe):
            before = LedgerEvent.objects.count()
            body = (
                b'{"items": [{"event": "growth.probe", "id": "p", "payload": {"p": ' + probe.body
            )

            answer = robin.send("post", "telemetry", body + b"}}]}")

            taken = judged(answer) and answer.json()["items"][0]["verdict"] != "refused"
            assert TelemetryEvent.objects.count() == int(taken)
            assert judged(answer) or LedgerEvent.objects.count() == before


@probing
def test_the_inputs_of_a_run_are_taken_or_refused(robin: Api, hand: int, alone: Alone) -> None:
    for probe in JSON_PROBES[hand::HANDS]:
        with alone(probe):
            body = b'{"inputs": {"p": ' + probe.body + b"}}"

            taken = judged(robin.send("post", "workflows/release/runs", body))

            assert WorkflowRun.objects.count() == int(taken)
            assert RunStep.objects.count() == 2 * int(taken)


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=99999999999999999999",
        "cursor=%00",
        "cursor=x",
        "since=0000-00-00T00:00:00Z",
        "event=%00",
        "event=" + "x" * 5000,
        "source=" + "x" * 5000,
        "correlationId=%ff%fe",
    ],
)
def test_a_hostile_query_for_events_is_refused_in_words(robin: Api, query: str) -> None:
    answer = robin.get("telemetry", query)

    assert answer.status_code in (200, 400)
    assert answer.status_code == 200 or answer.json()["detail"]
