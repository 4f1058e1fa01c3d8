"""Tokens are issued and revoked in the admin; their text is shown once."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from resources.tables.models import AgentToken, LedgerEvent
from resources.usecases import tokens
from tests.admin.pages import said
from tests.resources.making import ALICE

pytestmark = pytest.mark.django_db

LIST = "admin:resources_agenttoken_changelist"
ADD = "admin:resources_agenttoken_add"
WISH = {"agent": "robin", "scopes": ["status:write"], "days": "7"}


def issued() -> tokens.Issued:
    return tokens.issue(
        "robin",
        scopes=["status:write"],
        lifetime=timedelta(days=7),
        actor=ALICE,
        now=timezone.now(),
    )


def test_an_issued_token_works_and_is_shown_once(harbour: Any, administrator: Client) -> None:
    page = administrator.post(reverse(ADD), WISH)

    text = re.search(r"ioa_agent_\w+", said(page))
    token = AgentToken.objects.get()
    assert text
    assert tokens.authenticate(text[0], now=timezone.now()) == token
    assert (token.created_by, token.scopes) == ("person/ada", ["status:write"])
    assert "no-store" in page.headers["Cache-Control"]
    assert text[0] not in administrator.get(reverse(LIST)).content.decode()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"agent": "nobody"}, "There is no agent/nobody."),
        ({"agent": "a\x00b"}, "Null characters are not allowed."),
        ({"scopes": []}, "This field is required."),
        ({"scopes": ["everything"]}, "Select a valid choice."),
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "91"}, "less than or equal to 90"),
    ],
)
def test_a_token_that_cannot_be_issued_is_explained(
    harbour: Any, administrator: Client, change: dict[str, Any], told: str
) -> None:
    page = administrator.post(reverse(ADD), WISH | change)

    assert page.status_code == 400
    assert told in said(page)
    assert not AgentToken.objects.exists()


def test_a_token_is_revoked_after_asking(harbour: Any, administrator: Client) -> None:
    text, token = issued().text, AgentToken.objects.get()
    address = reverse("admin:resources_agenttoken_revoke", args=[token.key_id])

    asked = administrator.get(address)
    still = tokens.authenticate(text, now=timezone.now())
    administrator.post(address)

    assert f"Revoke {token.key_id}?" in said(asked)
    assert still is not None
    assert tokens.authenticate(text, now=timezone.now()) is None
    assert LedgerEvent.objects.filter(event="token.revoked", actor="person/ada").exists()


def test_the_list_tells_whether_a_token_works(harbour: Any, administrator: Client) -> None:
    token = issued().token
    before = said(administrator.get(reverse(LIST)))
    tokens.revoke(token.key_id, actor=ALICE, now=timezone.now())

    after = said(administrator.get(reverse(LIST)))

    assert "robin status:write works" in before
    assert "robin status:write revoked" in after


def test_a_token_is_shown_without_a_way_to_edit_or_delete_it(
    harbour: Any, administrator: Client
) -> None:
    token = issued().token
    page = administrator.get(reverse("admin:resources_agenttoken_change", args=[token.pk]))

    deleted = administrator.post(
        reverse("admin:resources_agenttoken_delete", args=[token.pk]), {"post": "yes"}
    )

    assert "Revoke" in said(page)
    assert token.secret_hmac not in page.content.decode()
    assert 'name="_save"' not in page.content.decode()
    assert deleted.status_code == 403


def test_an_operator_neither_sees_nor_issues_nor_revokes(harbour: Any, operator: Client) -> None:
    token = issued().token

    answers = [
        operator.get(reverse(LIST)),
        operator.post(reverse(ADD), WISH),
        operator.post(reverse("admin:resources_agenttoken_revoke", args=[token.key_id])),
    ]

    assert [each.status_code for each in answers] == [403, 403, 403]
    assert AgentToken.objects.get().revoked_at is None


def test_an_unknown_token_is_not_found(administrator: Client) -> None:
    assert (
        administrator.get(reverse("admin:resources_agenttoken_revoke", args=["x"])).status_code
        == 404
    )
