"""Statuses and observations: who may report what."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.test import Client

from tests.api.conftest import Api, issue
from tests.rows import every_row

pytestmark = pytest.mark.django_db

ROBIN = "resources/agent/robin"
READY = {"type": "Ready", "status": "True"}


def test_an_agent_reports_its_own_status(robin: Api) -> None:
    """I-01"""
    answer = robin.patch(f"{ROBIN}/status", {"state": "running", "conditions": [READY]})

    assert answer.status_code == 200
    assert answer.json()["state"] == "running"
    assert "Ready" in [each["type"] for each in answer.json()["conditions"]]
    assert answer["ETag"] == robin.get(ROBIN)["ETag"]
    assert robin.get(f"{ROBIN}/status").json() == answer.json()
    assert robin.get(ROBIN).json()["metadata"]["generation"] == 1


def test_a_patch_merges_and_a_put_replaces(robin: Api) -> None:
    """F-54"""
    robin.patch(f"{ROBIN}/status", {"state": "running", "currentTask": "sing"})

    merged = robin.patch(f"{ROBIN}/status", {"currentTask": None, "note": "x"}).json()
    replaced = robin.put(f"{ROBIN}/status", {"state": "idle"}).json()

    assert (merged["state"], merged["note"]) == ("running", "x")
    assert "currentTask" not in merged
    assert replaced["state"] == "idle"
    assert "note" not in replaced


def test_conditions_managed_by_the_server_survive_a_whole_status(robin: Api) -> None:
    """I-86"""
    answer = robin.put(f"{ROBIN}/status", {"conditions": [READY]})

    types = [each["type"] for each in answer.json()["conditions"]]
    assert types == ["Ready", "ReferencesResolved"]


def test_a_status_has_its_version_too(robin: Api) -> None:
    seen = robin.get(f"{ROBIN}/status")["ETag"]

    unchanged = robin.get(f"{ROBIN}/status", if_none_match=seen)
    stale = robin.patch(f"{ROBIN}/status", {"state": "idle"}, if_match='"0"')
    taken = robin.patch(f"{ROBIN}/status", {"state": "idle"}, if_match=seen)

    assert unchanged.status_code == 304
    assert (stale.status_code, stale.json()["currentVersion"]) == (409, seen.strip('"'))
    assert taken.status_code == 200


@pytest.mark.parametrize("path", ["resources/agent/wren", "resources/domain/growth"])
def test_an_agent_reports_for_nobody_else(robin: Api, path: str) -> None:
    """I-82"""
    answer = robin.patch(f"{path}/status", {"note": "x"})

    assert answer.status_code == 403
    assert "robin" in answer.json()["detail"]


def test_a_token_without_the_scope_reports_nothing(organisation: None) -> None:
    """F-54"""
    reader = Api(Client(), issue("robin", "resources:read"))

    answer = reader.patch(f"{ROBIN}/status", {"state": "running"})

    assert answer.status_code == 403
    assert "status:write" in answer.json()["detail"]


def test_people_report_only_with_the_right(alice: Api, bob: Api, organisation: None) -> None:
    assert bob.patch(f"{ROBIN}/status", {"state": "running"}).status_code == 403
    assert alice.patch(f"{ROBIN}/status", {"state": "running"}).status_code == 200
    assert alice.patch("resources/agent/nobody/status", {}).status_code == 404


@every_row(
    ("status", "pointer"),
    [
        ({"state": "dancing"}, "/state"),
        ({"conditions": [{"type": "Ready", "status": "Perhaps"}]}, "/conditions/0/status"),
        ({"conditions": [{"type": "Ready"}]}, "/conditions/0/status"),
        ({"conditions": 5}, "/conditions"),
        ({"conditions": [{**READY, "managedBy": "me"}]}, "/conditions/0/managedBy"),
        (
            {"conditions": [{"type": "ReferencesResolved", "status": "True"}]},
            "/conditions/0",
        ),
        ([], ""),
        ("fine", ""),
    ],
    rolled_back=True,
)
@every_row("method", ["put", "patch"])
def test_a_wrong_status_is_refused_with_its_place_in_the_body(
    robin: Api, method: str, status: Any, pointer: str
) -> None:
    before = robin.get(ROBIN).json()
    content_type = "application/json" if method == "put" else "application/merge-patch+json"

    answer = robin.send(method, f"{ROBIN}/status", orjson.dumps(status), content_type=content_type)

    assert answer.status_code == 400
    assert answer.json()["pointer"] == pointer
    assert robin.get(ROBIN).json() == before


def test_every_observation_has_its_own_verdict(robin: Api) -> None:
    items = [
        {"kind": "Agent", "name": "robin", "status": {"state": "running"}},
        {"kind": "agent", "name": "robin", "status": {"state": "running"}},
        {"kind": "Agent", "name": "wren", "status": {"state": "running"}},
        {"kind": "Agent", "name": "robin", "status": {"state": "dancing"}},
        {"kind": "Unicorn", "name": "robin", "status": {}},
        {"kind": "Agent", "name": "robin", "status": {}, "observedAt": "soon"},
    ]

    answer = robin.post("observations", {"items": items})

    results = answer.json()["items"]
    assert answer.status_code == 200
    verdicts = [each["verdict"] for each in results]
    assert verdicts == ["changed", "unchanged", "forbidden", "refused", "refused", "refused"]
    pointers = [each["problems"][0]["pointer"] for each in results[2:]]
    assert pointers == ["", "/status/state", "/kind", "/observedAt"]
    version = robin.get(ROBIN).json()["metadata"]["resourceVersion"]
    assert results[0]["resourceVersion"] == version
    assert robin.get(f"{ROBIN}/status").json()["state"] == "running"


def test_a_person_reports_for_many(alice: Api, organisation: None) -> None:
    items = [
        {"kind": "Agent", "name": name, "status": {"state": "running"}}
        for name in ("robin", "wren", "nobody")
    ]

    results = alice.post("observations", {"items": items}).json()["items"]

    assert [each["verdict"] for each in results] == ["changed", "changed", "missing"]


def test_an_observation_from_the_future_is_refused(alice: Api, organisation: None) -> None:
    item = {"kind": "Agent", "name": "robin", "status": {}, "observedAt": "2999-01-01T00:00:00Z"}

    result = alice.post("observations", {"items": [item]}).json()["items"][0]

    assert (result["verdict"], result["problems"][0]["pointer"]) == ("refused", "/observedAt")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"items": []},
        {"items": {}},
        {"items": 5},
        {"items": ["x"]},
        [],
        "x",
        None,
        {"item": []},
    ],
)
def test_a_malformed_body_is_refused_whole(alice: Api, body: object) -> None:
    assert alice.post("observations", orjson.dumps(body)).status_code == 400


def test_reporting_needs_the_right(bob: Api, organisation: None) -> None:
    items = [{"kind": "Agent", "name": "robin", "status": {"state": "running"}}]

    assert bob.post("observations", {"items": items}).status_code == 403
