"""Agents' tokens: shown once, kept as an HMAC, bounded in time and scope, dead at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.core import serializers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.tables.models import AgentToken, LedgerEvent
from resources.usecases import deletion, tokens
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import ALICE, apply, made
from tests.tiers import examples

pytestmark = pytest.mark.django_db

READ = ["resources:read"]
MONTH = timedelta(days=30)


@pytest.fixture(autouse=True)
def organisation(db: None, clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))


def issue(
    clock: Clock,
    agent: str = "robin",
    *,
    scopes: Sequence[str] = READ,
    lifetime: timedelta = MONTH,
) -> tokens.Issued:
    return tokens.issue(agent, scopes=scopes, lifetime=lifetime, actor=ALICE, now=clock.now)


def test_a_token_has_a_form_scanners_know_and_works(clock: Clock) -> None:
    issued = issue(clock, scopes=["status:write", "resources:read", "status:write"])

    prefix, word, key_id, secret, checksum = issued.text.split("_")
    assert (prefix, word, key_id) == ("ioa", "agent", issued.token.key_id)
    assert (len(key_id), len(secret), len(checksum)) == (8, 43, 8)
    assert secret.isascii()
    assert secret.isalnum()
    token = tokens.authenticate(issued.text, now=clock.now)
    assert token is not None
    assert (token.agent.name, token.scopes) == ("robin", ["resources:read", "status:write"])


def test_no_two_tokens_are_alike(clock: Clock) -> None:
    assert len({issue(clock).text for _ in range(20)}) == 20


def test_neither_the_tables_nor_the_ledger_hold_the_secret(clock: Clock) -> None:
    issued = issue(clock)
    tokens.authenticate(issued.text, now=clock.now)
    tokens.revoke(issued.token.key_id, actor=ALICE, now=clock.now)

    secret = issued.text.split("_")[3]
    rows = [*AgentToken.objects.all(), *LedgerEvent.objects.all()]
    stored = serializers.serialize("json", rows)
    assert issued.token.key_id in stored
    assert secret not in stored
    assert issued.token.secret_hmac not in json.dumps(
        [each.payload for each in LedgerEvent.objects.all()]
    )


def test_issuing_and_revoking_are_in_the_chain_of_the_agent(clock: Clock) -> None:
    issued = issue(clock)
    for _ in range(2):
        tokens.revoke(issued.token.key_id, actor=ALICE, now=clock.now)

    told = LedgerEvent.objects.filter(event__startswith="token.").order_by("id")
    assert [(each.event, each.subject, each.actor) for each in told] == [
        ("token.issued", "agent/robin", "person/alice"),
        ("token.revoked", "agent/robin", "person/alice"),
    ]
    assert told[0].payload == {
        "token": issued.token.key_id,
        "scopes": READ,
        "expiresAt": "2026-12-16T10:00:00Z",
    }


def test_it_ends_at_its_time(clock: Clock) -> None:
    issued = issue(clock, lifetime=timedelta(hours=1))

    clock.advance(hours=1, microseconds=-1)
    assert tokens.authenticate(issued.text, now=clock.now) is not None
    clock.advance(microseconds=1)
    assert tokens.authenticate(issued.text, now=clock.now) is None


def test_it_dies_at_once_when_revoked(clock: Clock) -> None:
    issued, other = issue(clock), issue(clock)

    revoked = tokens.revoke(issued.token.key_id, actor=ALICE, now=clock.now)

    assert revoked.revoked_at == clock.now
    assert tokens.authenticate(issued.text, now=clock.now) is None
    assert tokens.authenticate(other.text, now=clock.now) is not None
    later = tokens.revoke(issued.token.key_id, actor=ALICE, now=clock.advance(days=1))
    assert later.revoked_at == revoked.revoked_at


def test_what_does_not_exist_cannot_be_revoked(clock: Clock) -> None:
    with refuses("not-found"):
        tokens.revoke("nobody", actor=ALICE, now=clock.now)


def test_it_dies_with_its_agent_and_stays_dead(clock: Clock) -> None:
    issued = issue(clock)

    deletion.delete("Agent", "robin", actor=ALICE, now=clock.now)
    assert tokens.authenticate(issued.text, now=clock.now) is None
    apply(clock.advance(minutes=1), made("Agent", "robin"))
    assert tokens.authenticate(issued.text, now=clock.now) is None


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        ("robin", {"scopes": []}),
        ("robin", {"scopes": ["decide"]}),
        ("robin", {"scopes": ["resources:read", "admin"]}),
        ("robin", {"lifetime": timedelta(0)}),
        ("robin", {"lifetime": timedelta(seconds=-1)}),
        ("robin", {"lifetime": timedelta(days=90, microseconds=1)}),
        ("nobody", {}),
        ("harbour", {}),
    ],
)
def test_what_nobody_may_have_is_refused(
    clock: Clock, agent: str, options: dict[str, Any]
) -> None:
    with refuses("invalid"):
        issue(clock, agent, **options)
    assert not AgentToken.objects.exists()
    assert not LedgerEvent.objects.filter(event="token.issued").exists()


def test_ninety_days_are_allowed(clock: Clock) -> None:
    assert issue(clock, lifetime=timedelta(days=90)).token.expires_at == clock.advance(days=90)


def test_its_use_is_noted_at_most_once_a_minute(
    clock: Clock, django_assert_num_queries: Any
) -> None:
    issued = issue(clock)
    start = clock.now

    with django_assert_num_queries(2):
        tokens.authenticate(issued.text, now=clock.now)
    with django_assert_num_queries(1):
        tokens.authenticate(issued.text, now=clock.advance(seconds=59))
    assert AgentToken.objects.get().last_used_at == start
    with django_assert_num_queries(2):
        tokens.authenticate(issued.text, now=clock.advance(seconds=1))
    assert AgentToken.objects.get().last_used_at == clock.now


def test_a_typing_error_costs_no_query(clock: Clock, django_assert_num_queries: Any) -> None:
    text = issue(clock).text
    wrong = text[:30] + ("A" if text[30] != "A" else "B") + text[31:]

    with django_assert_num_queries(0):
        assert tokens.authenticate(wrong, now=clock.now) is None


@pytest.mark.parametrize("part", ["key", "secret", "pepper"])
def test_a_well_formed_forgery_is_nothing(clock: Clock, part: str, settings: Any) -> None:
    text = issue(clock).text
    _, _, key_id, secret, _ = text.split("_")
    forged = {
        "key": tokens.spell("A" * 8, secret),
        "secret": tokens.spell(key_id, "A" * 43),
        "pepper": text,
    }[part]
    if part == "pepper":
        settings.SECRET_KEY = "another installation, another secret, another pepper"

    assert tokens.authenticate(forged, now=clock.now) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "_" * 4,
        "ioa_agent_x_y_z",
        tokens.spell("", ""),
        tokens.spell("\x00" * 8, "s" * 43),
        tokens.spell("ключключ", "s" * 43),
        "ioa_agent_\ud800_x_00000000",
        tokens.spell("a" * 8, "s" * 43) + "\n",
        tokens.spell("a" * 8, "s" * 43).upper(),
    ],
)
def test_anything_else_is_nothing(clock: Clock, text: str) -> None:
    assert tokens.authenticate(text, now=clock.now) is None


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=80))
def test_any_text_gets_an_answer(clock: Clock, text: str) -> None:
    assert tokens.authenticate(text, now=clock.now) is None


# Tokens of outside controllers


def keeper(clock: Clock, **spec: Any) -> None:
    usual = {"targetKind": "Domain", "reconcileInterval": "5m", "runner": "external"}
    apply(clock.now, made("Controller", "keeper", usual | spec))


def test_a_controller_that_runs_outside_has_tokens_of_its_own_kind(clock: Clock) -> None:
    keeper(clock)
    issued = issue(clock, "controller/keeper", scopes=["cycles:write", "actions:write"])

    assert issued.text.startswith("ioa_controller_")
    token = tokens.authenticate(issued.text, now=clock.now)
    assert token is not None
    assert str(token.agent) == "controller/keeper"
    (entry,) = LedgerEvent.objects.filter(event="token.issued")
    assert entry.subject == "controller/keeper"


@pytest.mark.parametrize(
    ("whom", "scopes", "refusal"),
    [
        ("controller/keeper", ["status:write"], "Choose scopes from: resources:read, cycles:"),
        ("controller/keeper", ["proposals:write"], "Choose scopes from"),
        ("controller/nobody", ["cycles:write"], "There is no controller/nobody."),
        ("controller/ours", ["cycles:write"], "is not run outside"),
        ("robin", ["cycles:write"], "Choose scopes from"),
        ("domain/harbour", READ, "There is no agent/domain/harbour."),
    ],
)
def test_who_may_not_have_a_token_is_told_why(
    clock: Clock, whom: str, scopes: list[str], refusal: str
) -> None:
    keeper(clock)
    ours = {"targetKind": "Domain", "reconcileInterval": "5m"}
    apply(clock.now, made("Controller", "ours", ours))

    with refuses("refused" if whom.endswith("/ours") else "invalid", match=refusal):
        issue(clock, whom, scopes=scopes)
    assert not AgentToken.objects.exists()


def test_a_token_of_one_kind_does_not_pass_for_another(clock: Clock) -> None:
    keeper(clock)
    text = issue(clock, "controller/keeper", scopes=["cycles:write"]).text
    _, _, key, secret, _ = text.split("_")

    assert tokens.authenticate(tokens.spell(key, secret), now=clock.now) is None
