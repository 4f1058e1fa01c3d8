"""Many documents at once."""

from __future__ import annotations

from typing import Any

import pytest

from resources.documents.yaml_text import write_all
from resources.tables.models import LedgerEvent, Resource
from tests.api.conftest import Api, agent, apply, domain

pytestmark = pytest.mark.django_db

BROKEN = {**domain("broken"), "spec": {}}


def actions(answer: Any) -> list[str]:
    return [each["action"] for each in answer.json()["items"]]


@pytest.mark.parametrize(
    "body",
    [
        domain("growth"),
        [domain("growth"), agent("robin", "growth")],
        {"items": [domain("growth"), agent("robin", "growth")]},
    ],
)
def test_one_document_a_list_and_items_are_understood(alice: Api, body: Any) -> None:
    first = alice.post("apply", body)
    again = alice.post("apply", body)

    assert first.status_code == 200
    assert set(actions(first)) == {"created"}
    assert first.json()["written"] is True
    assert set(actions(again)) == {"unchanged"}


def test_a_yaml_stream_is_understood(alice: Api) -> None:
    text = write_all([domain("growth"), agent("robin", "growth")])

    answer = alice.send("post", "apply", text, content_type="application/yaml")

    assert actions(answer) == ["created", "created"]


def test_a_dry_run_says_what_would_change_and_writes_nothing(alice: Api) -> None:
    apply(domain("growth"))
    events = LedgerEvent.objects.count()
    body = [domain("growth", budgetRef="b"), domain("new"), BROKEN]

    answer = alice.post("apply", body, "dryRun=true")

    items = answer.json()["items"]
    assert answer.status_code == 200
    assert actions(answer) == ["changed", "created", "refused"]
    assert answer.json()["written"] is False
    assert items[0]["differences"] == [
        {"pointer": "/spec/budgetRef", "operation": "add", "before": None, "after": "b"}
    ]
    assert items[2]["problems"][0]["pointer"] == "/spec/purpose"
    assert LedgerEvent.objects.count() == events
    assert alice.get("resources/domain/new").status_code == 404


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (BROKEN, "/spec/purpose"),
        ([domain("growth"), BROKEN], "/1/spec/purpose"),
        ({"items": [domain("growth"), BROKEN]}, "/items/1/spec/purpose"),
        ([domain("growth"), 5], "/1"),
        ([domain("growth"), domain("growth")], "/1/metadata/name"),
    ],
)
def test_one_bad_document_keeps_all_from_being_written(
    alice: Api, body: Any, pointer: str
) -> None:
    answer = alice.post("apply", body)

    problem = answer.json()
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert [each["pointer"] for each in problem["errors"]] == [pointer]
    assert problem["written"] is False
    assert problem["items"][-1]["action"] == "refused"
    assert not Resource.objects.exists()


def test_keeping_going_writes_what_can_be_written(alice: Api) -> None:
    answer = alice.post("apply", [domain("growth"), BROKEN], "keepGoing=true")

    assert answer.status_code == 200
    assert actions(answer) == ["created", "refused"]
    assert alice.get("resources/domain/growth").status_code == 200


def test_keeping_going_with_nothing_to_write_is_refused(alice: Api) -> None:
    assert alice.post("apply", [BROKEN], "keepGoing=true").status_code == 400


def test_a_document_made_from_an_older_version_is_a_conflict(alice: Api) -> None:
    apply(domain("growth"))
    stale = domain("growth", budgetRef="b")
    stale["metadata"]["resourceVersion"] = "0"

    answer = alice.post("apply", stale)

    assert answer.status_code == 409
    assert actions(answer) == ["conflict"]


@pytest.mark.parametrize("body", [[], {"items": []}, {"items": 5}])
def test_no_document_is_refused(alice: Api, body: Any) -> None:
    assert alice.post("apply", body).status_code == 400


def test_an_empty_stream_is_refused(alice: Api) -> None:
    answer = alice.send("post", "apply", "---\n---\n", content_type="application/yaml")

    assert answer.status_code == 400


def test_a_switch_is_true_or_false(alice: Api) -> None:
    assert alice.post("apply", domain("growth"), "dryRun=perhaps").status_code == 400
    assert alice.post("apply", domain("growth"), "dryrun=true").status_code == 400
    assert not Resource.objects.exists()


def test_looking_is_free_and_writing_is_not(bob: Api) -> None:
    assert bob.post("apply", domain("growth")).status_code == 403
    assert bob.post("apply", domain("growth"), "dryRun=true").status_code == 200


def test_agents_apply_nothing(robin: Api) -> None:
    answer = robin.post("apply", domain("new"), "dryRun=true")

    assert answer.status_code == 403
    assert answer.json()["detail"] == "Agents propose, people change specs."
