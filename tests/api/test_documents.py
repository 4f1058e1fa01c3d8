"""One document: reading, creating, replacing, deleting."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from resources.documents.yaml_text import read_yaml
from resources.tables.ledger import instant
from resources.tables.models import ResourceRevision
from tests.api.conftest import Api, agent, apply, domain, signed_in
from tests.conftest import given

pytestmark = pytest.mark.django_db

GROWTH = "resources/domain/growth"


def version(alice: Api, path: str = GROWTH) -> str:
    return str(alice.get(path)["ETag"])


def test_a_document_comes_with_its_version(alice: Api, organisation: None) -> None:
    answer = alice.get(GROWTH)

    body = answer.json()
    assert answer["ETag"] == f'"{body["metadata"]["resourceVersion"]}"'
    assert body["kind"] == "Domain"
    assert body["metadata"]["generation"] == 1
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("media_type", ["application/yaml", "text/yaml"])
def test_a_document_is_yaml_when_asked_for(
    alice: Api, organisation: None, media_type: str
) -> None:
    answer = alice.get(GROWTH, accept=media_type)

    assert answer["Content-Type"] == f"{media_type}; charset=utf-8"
    assert read_yaml(answer.content) == alice.get(GROWTH).json()


@pytest.mark.parametrize("tags", ["{}", "W/{}", '"1", {}', "*"])
def test_a_document_the_caller_has_is_not_sent_again(
    alice: Api, organisation: None, tags: str
) -> None:
    """F-52"""
    tag = version(alice)

    answer = alice.get(GROWTH, if_none_match=tags.format(tag))

    assert answer.status_code == 304
    assert answer["ETag"] == tag
    assert answer.content == b""


def test_an_older_version_is_sent_again(alice: Api, organisation: None) -> None:
    assert alice.get(GROWTH, if_none_match='"0"').status_code == 200


def test_a_document_as_it_was(alice: Api, organisation: None) -> None:
    """O-61"""
    before = instant(timezone.now())
    old = version(alice)
    alice.patch(GROWTH, {"spec": {"purpose": "Grows."}})

    answer = alice.get(GROWTH, f"at={before}")

    assert answer.json()["spec"]["purpose"] == "Works."
    assert answer["ETag"] == old
    assert alice.get(GROWTH, "at=1999-01-01T00:00:00Z").status_code == 404


def test_putting_a_new_document_creates_it(alice: Api) -> None:
    answer = alice.put(GROWTH, domain("growth"))

    assert answer.status_code == 201
    assert answer["Location"] == "/api/v1/resources/domain/growth"
    assert answer.json() == alice.get(GROWTH).json()
    assert answer["ETag"] == version(alice)


@pytest.mark.parametrize("content_type", ["application/yaml", 'text/yaml; charset="UTF-8"'])
def test_a_document_may_be_sent_as_yaml(alice: Api, content_type: str) -> None:
    text = "apiVersion: ioa.dev/v0.2\nkind: Domain\nmetadata: {name: growth}\nspec: {purpose: x}\n"

    answer = alice.send("put", GROWTH, text, content_type=content_type)

    assert answer.status_code == 201


def test_replacing_needs_the_version_that_was_seen(alice: Api, organisation: None) -> None:
    """F-52"""
    changed = domain("growth", budgetRef="b")

    refused = alice.put(GROWTH, changed)
    stale = alice.put(GROWTH, changed, if_match='"0"')
    replaced = alice.put(GROWTH, changed, if_match=version(alice))

    current = refused.json()["currentVersion"]
    assert (refused.status_code, refused.json()["type"]) == (
        428,
        "/problems/precondition-required",
    )
    assert (stale.status_code, stale.json()["currentVersion"]) == (409, current)
    assert replaced.status_code == 200
    assert replaced.json()["metadata"]["generation"] == 2
    assert int(replaced.json()["metadata"]["resourceVersion"]) > int(current)


@pytest.mark.parametrize("tag", ["*", "W/{}"])
def test_any_version_and_a_weakened_one_may_be_replaced(
    alice: Api, organisation: None, tag: str
) -> None:
    answer = alice.put(
        GROWTH, domain("growth", budgetRef="b"), if_match=tag.format(version(alice))
    )

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "tag", ["42", '"forty-two"', '"1", "2"', "", '"-1"', '"' + "9" * 30 + '"']
)
def test_a_version_that_is_none_is_refused(alice: Api, organisation: None, tag: str) -> None:
    assert alice.put(GROWTH, domain("growth"), if_match=tag).status_code == 400


def test_creating_only_does_not_replace(alice: Api) -> None:
    """I-08 F-52"""
    created = alice.put(GROWTH, domain("growth"), if_none_match="*")
    refused = alice.put(GROWTH, domain("growth"), if_none_match="*")

    assert created.status_code == 201
    assert refused.status_code == 409
    assert refused.json()["currentVersion"] == created.json()["metadata"]["resourceVersion"]


@pytest.mark.parametrize("tag", ["*", '"7"'])
def test_nothing_cannot_be_replaced(alice: Api, tag: str) -> None:
    assert alice.put(GROWTH, domain("growth"), if_match=tag).status_code == 409


def test_the_same_document_again_writes_nothing(alice: Api, organisation: None) -> None:
    revisions = ResourceRevision.objects.count()

    answer = alice.put(GROWTH, domain("growth"), if_match=version(alice))

    assert answer.status_code == 200
    assert ResourceRevision.objects.count() == revisions


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (agent("growth", "growth"), "/kind"),
        (domain("finance"), "/metadata/name"),
        ({**domain("growth"), "spec": {}}, "/spec/purpose"),
        ({**domain("growth"), "extra": 1}, "/extra"),
        ({**domain("growth"), "metadata": None}, "/metadata/name"),
        ([domain("growth")], ""),
        ({}, "/kind"),
    ],
)
def test_a_wrong_document_is_refused_with_its_place(
    alice: Api, document: object, pointer: str
) -> None:
    """D-50"""
    answer = alice.put(GROWTH, document)

    assert answer.status_code == 400
    assert answer.json()["pointer"] == pointer
    assert pointer in [each["pointer"] for each in answer.json()["errors"]]
    assert alice.get(GROWTH).status_code == 404


def test_deleting_leaves_nothing_to_read(alice: Api, organisation: None) -> None:
    answer = alice.delete("resources/agent/wren")

    assert answer.status_code == 204
    assert answer.content == b""
    assert alice.get("resources/agent/wren").status_code == 404
    assert alice.delete("resources/agent/wren").status_code == 404


def test_only_the_version_seen_is_deleted(alice: Api, organisation: None) -> None:
    stale = alice.delete(GROWTH, if_match='"0"')
    deleted = alice.delete(GROWTH, if_match=version(alice))

    assert stale.status_code == 409
    assert "currentVersion" in stale.json()
    assert deleted.status_code == 204


def test_what_others_need_is_not_deleted(alice: Api) -> None:
    """D-50"""
    owner = [{"kind": "Domain", "name": "growth"}]
    apply(domain("growth"), agent("robin", "growth", ownerReferences=owner))

    answer = alice.delete(GROWTH)

    assert answer.status_code == 409
    assert answer.json()["type"] == "/problems/blocked"
    assert answer.json()["dependents"] == ["agent/robin"]
    assert alice.get(GROWTH).status_code == 200


def test_a_person_without_the_right_changes_nothing(bob: Api, organisation: None) -> None:
    created = bob.put("resources/domain/new", domain("new"))
    replaced = bob.put(GROWTH, domain("growth", budgetRef="b"), if_match="*")
    patched = bob.patch(GROWTH, {"spec": {"purpose": "x"}})
    deleted = bob.delete(GROWTH)

    assert [each.status_code for each in (created, replaced, patched, deleted)] == [403] * 4
    assert bob.get(GROWTH).json()["spec"] == {"purpose": "Works."}


def test_declaring_and_deleting_are_separate_rights(organisation: None) -> None:
    editor = signed_in("erin", "operator")

    assert editor.put("resources/domain/new", domain("new")).status_code == 201
    assert editor.patch(GROWTH, {"spec": {"purpose": "x"}}).status_code == 200
    assert editor.delete("resources/domain/new").status_code == 403


def test_a_session_needs_its_csrf_token(organisation: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(given(User.objects.create(username="eve"), "administrator"))

    answer = Api(client).delete(GROWTH)

    assert answer.status_code == 403
    assert answer["Content-Type"] == "application/problem+json"
