"""Who may read and write what."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.utils import timezone

from resources.tables.models import AgentToken, LedgerEvent, Resource
from resources.usecases import access, tokens
from tests.api.conftest import ALICE, Api, agent, apply, domain, issue

pytestmark = pytest.mark.django_db

READS = [
    "resources/agent",
    "resources/agent/robin",
    "resources/agent/robin/status",
    "resources/agent/robin/revisions",
    "resources/agent/robin/conditions",
    "resources/agent/robin/drift",
    "alerts",
    "watch",
    "events",
    "audit/verify",
]


@pytest.mark.parametrize("path", READS)
def test_nothing_is_read_without_signing_in(stranger: Api, organisation: None, path: str) -> None:
    answer = stranger.get(path)

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", [path for path in READS if path != "watch"])
def test_a_person_who_is_signed_in_reads(bob: Api, organisation: None, path: str) -> None:
    assert bob.get(path).status_code == 200


@pytest.mark.parametrize("text", ["", "ioa_agent_x", "x y z", "\u00fc", "ioa_agent_a_b_00000000"])
def test_a_wrong_token_is_refused(organisation: None, text: str) -> None:
    client = Client(headers={"Authorization": f"Bearer {text}".encode().decode("latin-1")})

    answer = Api(client).get("resources/agent")

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_token_that_was_revoked_or_has_expired_is_refused(robin: Api) -> None:
    token = AgentToken.objects.get()
    AgentToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    expired = robin.get("resources/agent")
    AgentToken.objects.update(expires_at=timezone.now() + timedelta(hours=1))
    tokens.revoke(token.key_id, actor=ALICE, now=timezone.now())
    revoked = robin.get("resources/agent")

    assert [expired.status_code, revoked.status_code] == [401, 401]


def test_an_agent_reads_its_domain_and_what_is_everybodys(robin: Api) -> None:
    def names(kind: str) -> list[str]:
        items = robin.get(f"resources/{kind}").json()["items"]
        return [item["metadata"]["name"] for item in items]

    assert names("agent") == ["robin"]
    assert names("domain") == ["growth"]
    assert names("governance") == ["house-rules"]


@pytest.mark.parametrize(
    "place", ["", "/status", "/revisions", "/revisions/4", "/conditions", "/drift"]
)
def test_what_an_agent_may_not_read_does_not_exist_for_it(robin: Api, place: str) -> None:
    answer = robin.get(f"resources/agent/wren{place}")

    assert answer.status_code == 404
    assert answer.json() == robin.get(f"resources/agent/wren{place}").json()


def test_the_past_has_the_same_walls(robin: Api) -> None:
    at = timezone.now().isoformat().replace("+", "%2B")

    listed = robin.get("resources/agent", f"at={at}").json()["items"]
    other = robin.get("resources/agent/wren", f"at={at}")
    own = robin.get("resources/agent/robin", f"at={at}")

    assert [item["metadata"]["name"] for item in listed] == ["robin"]
    assert other.status_code == 404
    assert own.status_code == 200


def test_an_agent_without_a_domain_still_reads_itself(db: None) -> None:
    [row, _] = apply(agent("robin", "growth"), agent("wren", "growth"))
    Resource.objects.filter(pk=row.pk).update(domain="elsewhere")
    token = tokens.authenticate(issue("robin"), now=timezone.now())
    assert token is not None

    seen = access.visible(Resource.objects.all(), token)

    assert [each.name for each in seen] == ["robin"]


def test_nobody_sees_nothing(organisation: None) -> None:
    assert not access.visible(Resource.objects.all(), AnonymousUser()).exists()
    assert not access.visible_events(LedgerEvent.objects.all(), AnonymousUser()).exists()
    assert not access.sees(AnonymousUser(), domain("growth"))


@pytest.mark.parametrize(
    ("scope", "path"),
    [("status:write", "resources/agent"), ("resources:read", "events")],
)
def test_a_token_needs_the_scope(organisation: None, scope: str, path: str) -> None:
    narrow = Api(Client(), issue("robin", scope))

    answer = narrow.get(path)

    assert answer.status_code == 403
    assert "scope" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("put", "resources/agent/robin"),
        ("put", "resources/domain/new"),
        ("patch", "resources/agent/robin"),
        ("delete", "resources/agent/robin"),
        ("post", "apply"),
    ],
)
def test_agents_never_write_specs(robin: Api, method: str, path: str) -> None:
    content_type = "application/merge-patch+json" if method == "patch" else "application/json"

    answer = robin.send(method, path, "{}", content_type=content_type)

    assert answer.status_code == 403
    assert answer.json()["detail"] == "Agents propose, people change specs."


def test_agents_do_not_verify_the_ledger(robin: Api) -> None:
    assert robin.get("audit/verify").status_code == 403
