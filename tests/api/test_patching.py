"""Merge patches of a resource."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from resources.usecases import specs
from tests.api.conftest import Api, agent, apply
from tests.rows import every_row

pytestmark = pytest.mark.django_db

ROBIN = "resources/agent/robin"


@pytest.fixture
def labelled(db: None) -> None:
    apply(agent("robin", "growth", labels={"tier": "gold", "region": "eu"}))


def test_a_patch_changes_only_what_it_names(alice: Api, labelled: None) -> None:
    """F-53"""
    patch = {"spec": {"purpose": "Sings."}, "metadata": {"labels": {"tier": None}}}

    answer = alice.patch(ROBIN, patch)

    body = answer.json()
    assert answer.status_code == 200
    assert body["spec"]["purpose"] == "Sings."
    assert body["spec"]["domain"] == "growth"
    assert body["metadata"]["labels"] == {"region": "eu"}
    assert answer["ETag"] == alice.get(ROBIN)["ETag"]


def test_a_patch_of_a_version_named_fails_on_another(alice: Api, labelled: None) -> None:
    seen = alice.get(ROBIN)["ETag"]
    alice.patch(ROBIN, {"spec": {"purpose": "First."}})

    answer = alice.patch(ROBIN, {"spec": {"purpose": "Second."}}, if_match=seen)

    assert answer.status_code == 409
    assert answer.json()["currentVersion"] == alice.get(ROBIN)["ETag"].strip('"')
    assert alice.get(ROBIN).json()["spec"]["purpose"] == "First."


def test_a_patch_without_a_version_is_put_on_top_of_a_change_in_between(
    alice: Api, labelled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = specs.apply

    def after_somebody_else(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(specs, "apply", original)
        alice.patch(ROBIN, {"metadata": {"labels": {"seen": "yes"}}})
        return original(*args, **kwargs)

    monkeypatch.setattr(specs, "apply", after_somebody_else)

    answer = alice.patch(ROBIN, {"spec": {"purpose": "Sings."}})

    assert answer.status_code == 200
    assert answer.json()["spec"]["purpose"] == "Sings."
    assert answer.json()["metadata"]["labels"]["seen"] == "yes"


@every_row(
    ("patch", "pointer"),
    [
        ({"kind": "Domain"}, "/kind"),
        ({"kind": None}, "/kind"),
        ({"apiVersion": "ioa.dev/v0.1"}, "/apiVersion"),
        ({"metadata": {"name": "wren"}}, "/metadata/name"),
        ({"metadata": {"uid": "mine"}}, "/metadata/uid"),
        ({"metadata": {"generation": 9}}, "/metadata/generation"),
        ({"metadata": None}, "/metadata"),
        ({"status": {"state": "running"}}, "/status"),
        ({"status": None}, "/status"),
        ({"spec": {"purpose": None}}, "/spec/purpose"),
        ({"spec": None}, "/spec"),
        ({"spec": 5}, "/spec"),
        ({"metadata": {"labels": {"tier": 5}}}, "/metadata/labels/tier"),
        ({"surprise": 1}, "/surprise"),
        ([], ""),
        ("text", ""),
        (None, ""),
        (7, ""),
    ],
    rolled_back=True,
)
def test_a_patch_that_cannot_be_is_refused_with_its_place(
    alice: Api, labelled: None, patch: object, pointer: str
) -> None:
    before = alice.get(ROBIN).json()
    content_type = "application/merge-patch+json"

    answer = alice.send("patch", ROBIN, orjson.dumps(patch), content_type=content_type)

    assert answer.status_code == 400
    assert answer.json()["pointer"] == pointer
    assert alice.get(ROBIN).json() == before


def test_saying_the_same_again_is_no_change(alice: Api, labelled: None) -> None:
    before = alice.get(ROBIN)

    answer = alice.patch(ROBIN, {"kind": "Agent", "metadata": before.json()["metadata"]})

    assert answer.status_code == 200
    assert answer["ETag"] == before["ETag"]


def test_an_older_version_inside_the_patch_is_a_conflict(alice: Api, labelled: None) -> None:
    answer = alice.patch(ROBIN, {"metadata": {"resourceVersion": "0"}})

    assert answer.status_code == 409


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json-patch+json", "application/yaml", "a"]
)
def test_only_merge_patches_are_patches(alice: Api, labelled: None, content_type: str) -> None:
    """F-53"""
    answer = alice.send("patch", ROBIN, "{}", content_type=content_type)

    assert answer.status_code == 415
    assert answer.json()["allowed"] == ["application/merge-patch+json"]


def test_a_patch_of_nothing_is_not_found(alice: Api) -> None:
    assert alice.patch("resources/agent/nobody", {}).status_code == 404
