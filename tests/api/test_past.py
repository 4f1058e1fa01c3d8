"""Revisions and conditions."""

from __future__ import annotations

import pytest

from tests.api.conftest import Api

pytestmark = pytest.mark.django_db

ROBIN = "resources/agent/robin"


def test_changes_come_newest_first_with_who_made_them(alice: Api, robin: Api) -> None:
    """F-55"""
    alice.patch(ROBIN, {"spec": {"purpose": "Sings."}})
    robin.patch(f"{ROBIN}/status", {"state": "running"})

    items = alice.get(f"{ROBIN}/revisions").json()["items"]

    assert [each["change"] for each in items] == ["MODIFIED", "MODIFIED", "ADDED"]
    assert [each["actor"] for each in items] == ["agent/robin", "person/alice", "person/alice"]
    assert [each["generation"] for each in items] == [2, 2, 1]
    assert [each["parts"] for each in items[:2]] == [["observed"], ["declared"]]


def test_history_is_paged(alice: Api, organisation: None) -> None:
    for number in range(4):
        alice.patch(ROBIN, {"spec": {"purpose": f"Version {number}."}})
    seen: list[str] = []
    query = "limit=2"

    while query:
        page = alice.get(f"{ROBIN}/revisions", query).json()
        seen += [each["resourceVersion"] for each in page["items"]]
        query = f"limit=2&before={page['nextBefore']}" if "nextBefore" in page else ""

    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, key=int, reverse=True)


def test_a_revision_is_the_whole_document_of_then(alice: Api, organisation: None) -> None:
    """F-55 O-61"""
    before = alice.get(ROBIN)
    alice.patch(ROBIN, {"spec": {"purpose": "Sings."}})

    version = before["ETag"].strip('"')
    answer = alice.get(f"{ROBIN}/revisions/{version}")

    assert answer.json() == before.json()
    assert answer["ETag"] == before["ETag"]


@pytest.mark.parametrize("version", ["1234567", "999999999999999999"])
def test_a_revision_of_something_else_is_not_found(
    alice: Api, organisation: None, version: str
) -> None:
    other = alice.get("resources/agent/wren")["ETag"].strip('"')

    assert alice.get(f"{ROBIN}/revisions/{version}").status_code == 404
    assert alice.get(f"{ROBIN}/revisions/{other}").status_code == 404


@pytest.mark.parametrize(
    "path", ["revisions/x", "revisions/-1", "revisions/99999999999999999999", "revisions?before=x"]
)
def test_a_version_that_is_none_is_refused(alice: Api, organisation: None, path: str) -> None:
    place, _, query = path.partition("?")

    assert alice.get(f"{ROBIN}/{place}", query).status_code == 400


def test_conditions_are_listed_by_type(alice: Api, robin: Api) -> None:
    robin.patch(f"{ROBIN}/status", {"conditions": [{"type": "Available", "status": "True"}]})

    body = alice.get(f"{ROBIN}/conditions").json()

    assert [each["type"] for each in body["items"]] == ["Available", "ReferencesResolved"]
    assert body["items"][1]["managedBy"] == "system/references"
    assert f'"{body["resourceVersion"]}"' == alice.get(ROBIN)["ETag"]
