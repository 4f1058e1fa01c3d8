"""The ledger over HTTP."""

from __future__ import annotations

import pytest

from resources.tables.models import LedgerEvent
from tests.api.conftest import Api, agent, apply

# PostgreSQL shows entries only once their transaction has ended.
pytestmark = pytest.mark.django_db(transaction=True)


def test_entries_are_cloudevents_in_the_order_they_happened(
    alice: Api, organisation: None
) -> None:
    """F-58"""
    alice.patch("resources/agent/robin", {"spec": {"purpose": "Sings."}})

    items = alice.get("events", "limit=200").json()["items"]

    assert [int(each["id"]) for each in items] == sorted(int(each["id"]) for each in items)
    assert items[-1]["specversion"] == "1.0"
    assert items[-1]["type"] == "resource.spec-changed"
    assert items[-1]["subject"] == "agent/robin"
    assert items[-1]["actor"] == "person/alice"
    assert items[-1]["data"]["changed"] == ["/spec/purpose"]


@pytest.mark.parametrize(
    ("query", "types"),
    [
        ("correlationId=story", ["resource.spec-changed"]),
        ("subject=agent/robin", ["resource.created", "resource.spec-changed"]),
        ("event=resource.spec-changed", ["resource.spec-changed"]),
        ("subject=agent/robin&event=resource.created", ["resource.created"]),
        ("subject=nobody", []),
    ],
)
def test_entries_can_be_narrowed(
    alice: Api, organisation: None, query: str, types: list[str]
) -> None:
    change = {"spec": {"purpose": "Sings."}}
    alice.patch("resources/agent/robin", change, x_correlation_id="story")

    items = alice.get("events", query).json()["items"]

    assert [each["type"] for each in items] == types


def test_pages_join_and_go_on_from_the_end(alice: Api, organisation: None) -> None:
    seen: list[str] = []
    since = "0"

    while True:
        page = alice.get("events", f"limit=2&since={since}").json()
        since = page["nextSince"]
        if not page["items"]:
            break
        seen += [each["id"] for each in page["items"]]
    apply(agent("stork", "growth"))
    later = alice.get("events", f"since={since}").json()["items"]

    assert (
        seen
        == [str(pk) for pk in LedgerEvent.objects.order_by("id").values_list("id", flat=True)][
            : len(seen)
        ]
    )
    assert [each["subject"] for each in later] == ["agent/stork"]


def test_an_agent_reads_only_of_what_it_may_see(robin: Api) -> None:
    subjects = {each["subject"] for each in robin.get("events").json()["items"]}

    assert subjects == {"agent/robin", "domain/growth", "governance/house-rules"}


def test_an_earlier_bearer_of_a_name_is_not_shown(alice: Api, robin: Api) -> None:
    alice.delete("resources/agent/wren")
    apply(agent("wren", "growth"))

    items = robin.get("events", "subject=agent/wren").json()["items"]

    assert [each["type"] for each in items] == ["resource.created"]


@pytest.mark.parametrize(
    "query", ["since=x", "since=-1", "limit=0", "correlation=x", "subject=%00"]
)
def test_a_bad_parameter_is_refused(alice: Api, query: str) -> None:
    assert alice.get("events", query).status_code == 400


def test_a_whole_ledger_is_verified(alice: Api, organisation: None) -> None:
    body = alice.get("audit/verify").json()

    assert body["ok"] is True
    assert body["events"] == LedgerEvent.objects.count()
    assert body["findings"] == []


def test_a_change_of_the_ledger_is_found(
    alice: Api, organisation: None, ledger_unprotected: object
) -> None:
    with ledger_unprotected():  # type: ignore[operator]
        LedgerEvent.objects.filter(subject="agent/robin").update(actor="person/eve")

    body = alice.get("audit/verify").json()

    assert body["ok"] is False
    assert "was changed" in body["findings"][0]
