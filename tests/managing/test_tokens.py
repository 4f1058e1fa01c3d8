"""Tokens on pages: issued and shown once, listed by where somebody looks, revoked at once."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from resources.tables.models import AgentToken, LedgerEvent, Resource
from resources.usecases import tokens
from tests.managing.conftest import confirm, later, someone
from tests.problems import refuses
from tests.resources.making import ALICE, apply, made
from tests.rights.world import signed_in

pytestmark = pytest.mark.sqlite

NEW, LIST = "/manage/tokens/new", "/manage/tokens"
WISH = {"agent": "growth-scribe", "scopes": ["status:write"], "days": "7"}


def issued(agent: str = "growth-scribe", days: int = 30) -> tokens.Issued:
    return tokens.issue(
        agent,
        scopes=["status:write"],
        lifetime=timedelta(days=days),
        actor=ALICE,
        now=timezone.now(),
    )


def text_in(answer: Any) -> str:
    found = re.search(r'id="secret">(ioa_[^<]+)<', answer.content.decode())
    assert found is not None
    return found[1]


def test_a_token_is_shown_once_and_works(client: Client) -> None:
    answer = client.post(NEW, WISH)

    text = text_in(answer)
    assert answer["Cache-Control"] == "no-store"
    token = tokens.authenticate(text, now=timezone.now())
    assert token is not None
    assert (token.agent.name, token.scopes) == ("growth-scribe", ["status:write"])
    assert token.created_by == "person/ada"


def test_its_text_is_kept_nowhere(client: Client) -> None:
    secret = text_in(client.post(NEW, WISH)).split("_")[3]

    page = client.get(LIST)
    assert AgentToken.objects.get().key_id in page.content.decode()
    assert secret not in page.content.decode()
    kept = [str(each.get_decoded()) for each in Session.objects.all()]
    kept += [str(each) for each in LedgerEvent.objects.values_list("payload", flat=True)]
    assert not [each for each in kept if secret in each]
    assert secret not in str(client.cookies)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"agent": "nobody"}, "There is no agent/nobody."),
        ({"agent": "\x00"}, "There is no agent/"),
        ({"scopes": []}, "Choose scopes from"),
        ({"scopes": ["everything"]}, "Choose scopes from"),
        ({"days": "91"}, "A token lasts at most 90 days."),
        ({"days": "0"}, "A token lasts at most 90 days."),
        ({"days": "soon"}, "Say for how many days"),
        ({"days": "9" * 400}, "Say for how many days"),
    ],
)
def test_what_cannot_be_is_said_and_kept(
    client: Client, typed: dict[str, Any], sentence: str
) -> None:
    answer = client.post(NEW, WISH | typed)

    html = answer.content.decode()
    assert (answer.status_code, AgentToken.objects.count()) == (400, 0)
    assert sentence in html
    assert typed.get("days", "7") in html


def test_an_administrator_of_a_domain_issues_there_and_nowhere_else(gil: User) -> None:
    browser = signed_in(gil)

    assert (
        "There is no agent/finance-scribe."
        in browser.post(NEW, WISH | {"agent": "finance-scribe"}).content.decode()
    )
    assert browser.post(NEW, WISH).status_code == 200
    assert AgentToken.objects.get().agent.name == "growth-scribe"


def test_a_shared_agent_is_the_organisations(gil: User) -> None:
    outside = made("Controller", "keeper", {"runner": "external"})
    assert apply(timezone.now(), outside).written

    wish = {"agent": "controller/keeper", "scopes": ["cycles:write"], "days": "7"}
    answer = signed_in(gil).post(NEW, wish)

    assert answer.status_code == 403
    assert "Only an administrator of the organisation does this." in answer.content.decode()
    assert not AgentToken.objects.exists()


def test_everybody_sees_the_tokens_of_their_domains(gil: User, audrey: User, vic: User) -> None:
    near, far = issued().token.key_id, issued("finance-scribe").token.key_id

    seen = signed_in(gil).get(LIST).content.decode()
    assert near in seen
    assert far not in seen
    read = signed_in(audrey).get(LIST).content.decode()
    assert near in read
    assert far in read
    assert NEW not in read
    assert f"/{near}/revoke" not in read
    assert signed_in(vic).get(LIST).status_code == 403


def test_tokens_of_one_agent_and_those_that_ended(client: Client) -> None:
    near, far, old = issued(), issued("finance-scribe"), issued()
    tokens.revoke(old.token.key_id, actor=ALICE, now=timezone.now())

    one = client.get(f"{LIST}?agent=growth-scribe").content.decode()
    assert near.token.key_id in one
    assert far.token.key_id not in one
    assert old.token.key_id not in one
    every = client.get(f"{LIST}?agent=growth-scribe&state=all").content.decode()
    assert old.token.key_id in every
    assert "Revoked" in every
    empty = client.get(f"{LIST}?agent=nobody%00").content.decode()
    assert "No token of nobody works" in empty


def test_one_that_ends_soon_is_pointed_out(client: Client) -> None:
    issued(days=3)

    assert "1 token ends within a week" in client.get(LIST).content.decode()


def test_a_revoked_token_stops_at_once(client: Client) -> None:
    made_now = issued()
    where = f"/manage/tokens/{made_now.token.key_id}/revoke"

    assert "It stops working at once" in client.get(where).content.decode()
    assert client.post(where).status_code == 303
    assert client.post(where).status_code == 303
    assert tokens.authenticate(made_now.text, now=timezone.now()) is None
    told = LedgerEvent.objects.filter(event="token.revoked")
    assert [each.actor for each in told] == ["person/ada"]


def test_nobody_revokes_what_is_not_theirs(gil: User, audrey: User) -> None:
    near, far = issued(), issued("finance-scribe")

    assert signed_in(gil).post(f"/manage/tokens/{far.token.key_id}/revoke").status_code == 404
    assert signed_in(audrey).post(f"/manage/tokens/{near.token.key_id}/revoke").status_code == 403
    assert not AgentToken.objects.exclude(revoked_at=None).exists()


def test_the_use_case_asks_for_the_role_itself(gil: User, vic: User) -> None:
    from resources.usecases import access

    near, far = issued(), issued("finance-scribe")
    now = timezone.now()
    with refuses("not-found"):
        tokens.revoke(far.token.key_id, actor=ALICE, now=now, scope=access.scope_of(gil))
    with refuses("forbidden"):
        tokens.revoke(near.token.key_id, actor=ALICE, now=now, scope=access.scope_of(vic))
    assert not AgentToken.objects.exclude(revoked_at=None).exists()


def test_an_agents_page_leads_to_its_tokens(client: Client, vic: User) -> None:
    page, link = "/resources/agent/growth-scribe", "/manage/tokens?agent=growth-scribe"

    assert link in client.get(page).content.decode()
    assert link not in signed_in(vic).get(page).content.decode()
    assert link not in client.get("/resources/domain/growth").content.decode()


def test_who_signed_in_long_ago_confirms_and_finds_what_they_typed(stale: Client) -> None:
    with later():
        asked = stale.post(NEW, WISH)
        assert not AgentToken.objects.exists()
        page = stale.get(confirm(stale, asked["Location"])).content.decode()

        assert "It is you." in page
        assert 'value="growth-scribe"' in page
        assert re.search(r'value="status:write"[^>]* checked', page)
        assert 'value="resources:read" checked' not in page
        assert text_in(stale.post(NEW, WISH))


def test_a_token_of_an_agent_that_is_gone_says_so(client: Client) -> None:
    issued()
    Resource.objects.filter(name="growth-scribe").update(deleted_at=timezone.now())

    assert "Agent deleted" in client.get(f"{LIST}?state=all").content.decode()
    assert "No token works" in client.get(LIST).content.decode()


def test_the_way_there_is_shown_to_those_who_may(client: Client, audrey: User, vic: User) -> None:
    lead = someone("lead", "operator", domain="growth")

    for browser, shown in ((client, True), (signed_in(audrey), True), (signed_in(vic), False)):
        assert ('href="/manage"' in browser.get("/resources").content.decode()) == shown
    assert client.get("/manage").status_code == 200
    assert signed_in(lead).get("/manage").status_code == 403
