"""Telling events over the API, and reading them back."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from controllers.models import TelemetryEvent
from resources.tables.ledger import instant
from resources.tables.models import LedgerEvent
from tests.api.conftest import Api, agent, apply, issue, queries
from tests.api.deciding import good, problem
from tests.rows import every_row

pytestmark = pytest.mark.django_db

EVENT: dict[str, Any] = {"event": "growth.signup-completed", "payload": {"plan": "team"}}
CONTRACT: dict[str, Any] = {
    "apiVersion": "ioa.dev/v0.2",
    "kind": "Telemetry",
    "metadata": {"name": "signup-completed"},
    "spec": {
        "event": "growth.signup_completed",
        "category": "metric",
        "payload": {"required": ["plan"]},
        "source": {"domain": "growth"},
    },
}


@pytest.fixture
def contracted(organisation: None) -> None:
    apply(CONTRACT)


def verdicts(answer: Any) -> list[str]:
    return [each["verdict"] for each in good(answer, "TelemetryTaken")["items"]]


def test_one_event_or_many_each_has_its_verdict(robin: Api, contracted: None) -> None:
    alone = robin.post("telemetry", EVENT)
    many = robin.post(
        "telemetry",
        {"items": [EVENT, {**EVENT, "payload": {}}, {"event": 7}, {**EVENT, "colour": "red"}]},
    )

    assert verdicts(alone) == ["accepted"]
    assert verdicts(many) == ["accepted", "flagged", "refused", "refused"]
    items = many.json()["items"]
    assert (items[1]["contract"], items[1]["flags"]) == ("signup-completed", ["schema"])
    assert items[3]["problems"] == [{"pointer": "/colour", "detail": "is not a known field"}]
    assert TelemetryEvent.objects.count() == 3


def test_a_repeated_request_counts_once(robin: Api, contracted: None) -> None:
    body = {"items": [EVENT, {**EVENT, "id": "mine"}]}

    first = robin.post("telemetry", body, idempotency_key="k-1")
    again = robin.post("telemetry", body, idempotency_key="k-1")

    assert verdicts(first) == ["accepted", "accepted"]
    assert verdicts(again) == ["repeated", "repeated"]
    assert TelemetryEvent.objects.count() == 2


def test_a_spoofed_source_is_refused_and_recorded(robin: Api, contracted: None) -> None:
    answer = robin.post("telemetry", {**EVENT, "source": {"agent": "wren"}})

    assert verdicts(answer) == ["refused"]
    told = LedgerEvent.objects.get(event="telemetry.source-refused")
    assert (told.actor, told.severity) == ("agent/robin", "error")


def test_only_agents_with_the_scope_tell_events(
    alice: Api, stranger: Api, robin: Api, contracted: None
) -> None:
    reader = Api(Client(), issue("robin", "resources:read"))

    assert problem(stranger.post("telemetry", EVENT), 401, "not-signed-in")
    assert problem(alice.post("telemetry", EVENT), 403, "forbidden")
    told = problem(reader.post("telemetry", EVENT), 403, "forbidden")
    assert told["detail"] == "This token lacks the scope telemetry:write."
    assert not TelemetryEvent.objects.exists()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/items"),
        ({"items": []}, "/items"),
        ({"items": [EVENT], "more": 1}, "/items"),
        ({"items": [7]}, "/items/0"),
        ({"items": [EVENT] * 501}, "/items"),
        ([], "/items"),
        ("text", "/items"),
    ],
)
def test_what_is_no_batch_is_refused_whole(robin: Api, body: Any, pointer: str) -> None:
    sent = f'"{body}"' if isinstance(body, str) else body

    assert problem(robin.post("telemetry", sent), 400, "invalid")["pointer"] == pointer


@every_row(
    ("item", "pointer"),
    [
        ({"event": ""}, "/event"),
        ({"event": "a" * 300}, "/event"),
        ({**EVENT, "payload": []}, "/payload"),
        ({**EVENT, "time": "yesterday"}, "/time"),
        ({**EVENT, "time": 7}, "/time"),
        ({**EVENT, "category": "noise"}, "/category"),
        ({**EVENT, "severity": "loud"}, "/severity"),
        ({**EVENT, "id": "a\nb"}, "/id"),
        ({**EVENT, "source": "robin"}, "/source"),
        ({**EVENT, "source": {"agent": 7}}, "/source/agent"),
        ({**EVENT, "source": {"planet": "earth"}}, "/source/planet"),
        ({**EVENT, "correlationId": "x" * 65}, "/correlationId"),
        ({**EVENT, "event": "Not A Name"}, "/event"),
    ],
    rolled_back=True,
)
def test_what_is_no_event_is_refused_alone(
    robin: Api, contracted: None, item: Any, pointer: str
) -> None:
    answer = robin.post("telemetry", {"items": [item, EVENT]})

    assert verdicts(answer) == ["refused", "accepted"]
    assert [each["pointer"] for each in answer.json()["items"][0]["problems"]] == [pointer]


def test_a_name_of_a_request_that_is_none_is_refused(robin: Api) -> None:
    assert problem(robin.post("telemetry", EVENT, idempotency_key="x" * 201), 400, "invalid")


def told(robin: Api, *events: dict[str, Any]) -> None:
    assert robin.post("telemetry", {"items": list(events)}).status_code == 200


def read(who: Api, query: str = "") -> list[str]:
    found = good(who.get("telemetry", query), "TelemetryList")["items"]
    return [each["id"] for each in found]


def test_events_are_found_by_name_source_story_and_time(
    bob: Api, robin: Api, contracted: None
) -> None:
    told(robin, {**EVENT, "id": "a", "correlationId": "story-1"}, {"event": "b.c", "id": "b"})

    assert read(bob) == ["b", "a"]
    assert read(bob, "event=growth.signup-completed") == ["a"]
    assert read(bob, "source=robin") == ["b", "a"]
    assert read(bob, "source=agent/wren") == []
    assert read(bob, "correlationId=story-1") == ["a"]
    assert read(bob, f"since={instant(timezone.now())}") == []
    problem(bob.get("telemetry", "since=now"), 400, "invalid")
    problem(bob.get("telemetry", "sources=robin"), 400, "invalid")


def test_pages_follow_each_other_without_a_gap(bob: Api, robin: Api, contracted: None) -> None:
    told(robin, *[{**EVENT, "id": str(number)} for number in range(5)])

    first = bob.get("telemetry", "limit=2").json()
    second = bob.get("telemetry", f"limit=2&cursor={first['nextCursor']}").json()

    assert [each["id"] for each in (*first["items"], *second["items"])] == ["4", "3", "2", "1"]


def test_an_agent_reads_its_domains_events_and_no_others(robin: Api, contracted: None) -> None:
    wren = Api(Client(), issue("wren"))
    told(robin, {**EVENT, "id": "a"})
    told(wren, {"event": "finance.closed", "id": "b"})

    assert read(robin) == ["a"]
    assert read(wren) == ["b"]


@pytest.mark.parametrize("number", [5, 50])
def test_telling_many_costs_the_same_for_5_and_50(
    robin: Api, contracted: None, number: int
) -> None:
    events = [{**EVENT, "id": str(each)} for each in range(number)]
    robin.post("telemetry", EVENT)

    with queries("POST telemetry"):
        answer = robin.post("telemetry", {"items": events})

    assert set(verdicts(answer)) == {"accepted"}


@pytest.mark.parametrize("number", [5, 50])
def test_reading_costs_the_same_for_5_and_50(
    bob: Api, robin: Api, contracted: None, number: int
) -> None:
    told(robin, *[{**EVENT, "id": str(each)} for each in range(number)])
    bob.get("telemetry")

    with queries("GET telemetry"):
        answer = bob.get("telemetry", "limit=200")
    with queries("GET telemetry by an agent"):
        robin.get("telemetry", "event=growth.signup_completed&source=robin")

    assert len(answer.json()["items"]) == number


def test_a_hundred_contracts_cost_no_more_statements(robin: Api, contracted: None) -> None:
    many = [
        {
            **CONTRACT,
            "metadata": {"name": f"c-{n}"},
            "spec": {**CONTRACT["spec"], "event": f"x.y{n}"},
        }
        for n in range(100)
    ]
    apply(*many, agent("finch", "growth"))
    robin.post("telemetry", EVENT)

    with queries("POST telemetry"):
        robin.post("telemetry", {"items": [{**EVENT, "id": "a"}, {**EVENT, "id": "b"}]})
