"""Who edits what: a role in a domain lets somebody declare there, and only while they hold it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.access import roles
from controllers.models import Grant
from resources.tables.models import LedgerEvent, Resource
from tests.api.conftest import Api, agent, apply, domain, signed_in
from tests.conftest import given

pytestmark = pytest.mark.django_db

GUARD = {
    "apiVersion": "ioa.dev/v0.2",
    "kind": "Governance",
    "metadata": {"name": "house-rules"},
    "spec": {"domain": "*"},
}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    apply(domain("growth"), domain("finance"), agent("robin", "growth"), agent("wren", "finance"))


@pytest.fixture
def ola() -> Api:
    """Return the operator of growth."""
    return signed_in("ola", "operator", domain="growth")


def purpose(name: str, within: str, text: str = "Another.") -> dict[str, Any]:
    found = agent(name, within)
    return found | {"spec": found["spec"] | {"purpose": text}}


def test_an_operator_of_a_domain_declares_there(ola: Api) -> None:
    assert ola.post("apply", purpose("robin", "growth")).status_code == 200
    assert ola.put("resources/agent/finch", agent("finch", "growth")).status_code == 201
    assert ola.patch("resources/agent/robin", {"spec": {"purpose": "New."}}).status_code == 200


@pytest.mark.parametrize(
    "document",
    [
        purpose("wren", "finance"),
        # A name that is taken elsewhere, taken over; and one that would be moved there.
        purpose("wren", "growth"),
        purpose("robin", "finance"),
        agent("finch", "finance"),
        domain("sales"),
        GUARD,
    ],
    ids=["changed", "taken over", "given away", "added", "a domain", "everybody's"],
)
def test_and_nowhere_else(ola: Api, document: dict[str, Any]) -> None:
    before = written()

    together = ola.post("apply", [agent("heron", "growth"), document])
    path = f"resources/{document['kind'].lower()}/{document['metadata']['name']}"
    there = Resource.objects.filter(name=document["metadata"]["name"]).exists()
    alone = ola.put(path, document, **({"if_match": "*"} if there else {}))

    assert (together.status_code, alone.status_code) == (403, 403)
    assert written() == before


def written() -> int:
    """Count what was written, but for that it was refused."""
    return LedgerEvent.objects.exclude(event="person.refused").count()


def test_what_is_not_seen_is_neither_patched_nor_deleted(ola: Api) -> None:
    chief = signed_in("chi", "administrator", domain="growth")

    assert ola.patch("resources/agent/wren", {"spec": {"purpose": "New."}}).status_code == 404
    assert chief.delete("resources/agent/wren").status_code == 404
    assert ola.delete("resources/agent/robin").status_code == 403
    assert chief.delete("resources/agent/robin").status_code == 204


def test_a_deletion_does_not_reach_into_another_domain() -> None:
    owner = {"kind": "Agent", "name": "robin", "deletePolicy": "cascade"}
    apply(agent("egret", "finance", ownerReferences=[owner]))
    chief = signed_in("chi", "administrator", domain="growth")

    answer = chief.delete("resources/agent/robin")

    assert answer.status_code == 403
    assert "egret" not in str(answer.json())
    assert Resource.objects.filter(deleted_at=None, kind="Agent").count() == 3


def test_a_role_that_is_taken_stops_editing_at_once(ola: Api) -> None:
    ada = given(User.objects.create(username="ada"), "administrator")
    ola_ = User.objects.get(username="ola")
    given(ola_, "viewer", domain="growth")
    # Flags and groups of the admin do not stand above that.
    User.objects.filter(username="ola").update(is_superuser=True, is_staff=True)
    assert ola.post("apply", purpose("robin", "growth", "One.")).status_code == 200

    roles.revoke(ola_, "operator", by=ada, now=timezone.now(), domain="growth")

    assert ola.post("apply", purpose("robin", "growth", "Two.")).status_code == 403
    row = Resource.objects.get(name="robin")
    admin = f"/admin/resources/agent/{row.pk}/change/"
    assert ola.client.post(admin, {"text": "x", "version": 1}).status_code in (302, 403)
    assert row.spec["purpose"] == "One."


def test_an_auditor_reads_everything_and_writes_nothing() -> None:
    auditor = signed_in("una", "auditor")

    assert auditor.get("resources/agent/wren").status_code == 200
    assert auditor.get("audit/verify").status_code == 200
    assert auditor.post("apply", purpose("wren", "finance")).status_code == 403
    assert auditor.delete("resources/agent/wren").status_code == 403


def test_a_grant_that_ended_shows_nothing_any_more() -> None:
    vic = signed_in("vic", "viewer")
    assert vic.get("resources/agent/wren").status_code == 200

    Grant.objects.update(ends_at=timezone.now())

    assert vic.get("resources/agent/wren").status_code == 404


def test_a_list_of_the_past_has_the_same_walls(ola: Api) -> None:
    at = timezone.now().isoformat().replace("+", "%2B")

    items = ola.get("resources/agent", f"at={at}").json()["items"]

    assert [each["metadata"]["name"] for each in items] == ["robin"]


def test_a_token_is_made_only_where_its_maker_administers() -> None:
    chief = User.objects.create(username="chi", is_staff=True)
    client = Client()
    client.force_login(given(chief, "administrator", domain="growth"))
    form = {"scopes": ["resources:read"], "days": "1"}

    refused = client.post("/admin/resources/agenttoken/add/", {"agent": "wren", **form})
    made = client.post("/admin/resources/agenttoken/add/", {"agent": "robin", **form})

    assert (refused.status_code, made.status_code) == (400, 200)
