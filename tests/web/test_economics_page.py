"""Economics: how budgets stand, what agents have of them, what they cost and asked for."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers import admission, budgets
from controllers.admission import UsageEntry
from controllers.budgets import price_list
from controllers.models import Admission
from controllers.web.economics import economics_page
from resources.documents.actor import Actor
from resources.tables.models import AgentToken
from resources.usecases import tokens
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.decisions import making
from tests.resources.making import apply, made
from tests.web.conftest import SignIn

WORDS = re.compile(r"<[^>]*>|\s+")


def shown(client: Client, address: str = "/economics", **given: Any) -> str:
    """Return the words of a page."""
    answer = client.get(address, **given)
    assert answer.status_code == 200
    return unescape(re.sub(r"\s+", " ", WORDS.sub(" ", answer.content.decode())))


@pytest.fixture
def team(db: None, clock: Clock) -> Clock:
    """Return a small organisation: an agent with a share of a budget, and people."""
    making.agent(clock)
    making.person(clock, "ava", "administrator")
    limits = {"tokens": {"monthly": 1_000}}
    shares = [{"name": "scribe", "allocation": 0.5}]
    spec = {"domain": "growth", "period": "monthly", "limits": limits, "agents": shares}
    assert apply(clock.now, made("Budget", "growth-budget", spec)).written
    return clock


@pytest.fixture
def ava(team: Clock, sign_in: SignIn) -> Client:
    return sign_in("ava")


def token(clock: Clock, name: str = "scribe") -> AgentToken:
    issued = tokens.issue(
        name,
        scopes=["admission:ask", "usage:write"],
        lifetime=tokens.DEFAULT_LIFETIME,
        actor=Actor("person", "alice"),
        now=clock.now,
    )
    return issued.token


def spend(clock: Clock, count: int) -> None:
    """Let the agent report tokens."""
    claim = budgets.Claim(tokens_in=count)
    admission.report([UsageEntry(claim)], token(clock), clock.now)


def ask(clock: Clock, count: int = 1, **given: Any) -> list[Admission]:
    """Let the agent ask so often."""
    bearer = token(clock)
    wish = admission.Request("execute", "agent/scribe", budgets.Claim(), **given)
    return [admission.ask(wish, bearer, clock.now) for _ in range(count)]


def test_a_budget_shows_what_is_used_of_it_and_where_that_leads(ava: Client, team: Clock) -> None:
    assert "It is in budget." in shown(ava)

    spend(team, 700)

    page = shown(ava)
    assert "growth-budget growth, monthly" in page
    assert "70.0%" in page
    assert "700 tokens of 1,000 tokens" in page
    assert "scribe 50.0% of growth-budget" in page
    assert "140.0%" in page


@pytest.mark.parametrize(("count", "said"), [(1_000, "growth-budget is spent."), (0, "in budget")])
def test_the_first_sentence_is_the_status(ava: Client, team: Clock, count: int, said: str) -> None:
    spend(team, count)

    assert said in shown(ava)


def test_what_people_were_told_stands_beside_it(ava: Client, team: Clock) -> None:
    spend(team, 950)
    budgets.publish(team.now)

    page = shown(ava)

    assert "95% of budget/growth-budget is used" in page
    assert "agent/scribe has used 950 tokens of its 500 tokens" in page


def test_prices_are_those_that_are_set(ava: Client, team: Clock) -> None:
    assert "No price is set" in shown(ava)

    paid, person = ("2.5", "0.125"), User.objects.get(username="ava")
    price_list.put("openai", "gpt-4o", paid, "USD", person=person, now=team.now)

    assert "gpt-4o openai 2.50 USD 0.125 USD" in shown(ava)


def test_what_agents_asked_shows_the_answer_and_why(ava: Client, team: Clock) -> None:
    assert "Nobody has asked yet" in shown(ava)
    spec = {"domain": "growth", "limits": {"tokens": {"monthly": 0}}, "enforcement": "enforce"}
    ask(team)
    apply(team.now, made("Budget", "growth-budget", {"period": "monthly"} | spec))
    ask(team)

    page = shown(ava)

    assert "scribe growth execute on agent/scribe" in page
    assert "Allowed permit ends" in page


def test_a_domain_can_be_looked_at_alone(ava: Client, team: Clock) -> None:
    apply(team.now, made("Domain", "growth"), made("Domain", "finance"))
    apply(team.now, made("Budget", "finance-budget", {"domain": "finance", "period": "monthly"}))
    ask(team)

    both, one = shown(ava), shown(ava, "/economics?domain=finance")

    assert "growth-budget" in both
    assert "finance-budget" in both
    assert "finance-budget" in one
    assert "growth-budget" not in one
    assert "Nobody has asked yet" in one


def test_older_questions_are_a_page_away(
    ava: Client, team: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(economics_page, "ROWS", 2)
    first, *_, last = ask(team, 5)
    page = ava.get("/economics").content.decode()
    older = re.search(r'href="\?([^"]*)">Older', page)
    assert older

    found = [page]
    while older:
        found.append(ava.get(f"/economics?{unescape(older[1])}").content.decode())
        older = re.search(r'href="\?([^"]*)">Older', found[-1])

    assert f'id="asked-{last.pk}"' in found[0]
    assert f'id="asked-{first.pk}"' in found[-1]
    rows = [each for text in found for each in re.findall(r'id="asked-(\d+)"', text)]
    assert len(rows) == len(set(rows)) == 5


@pytest.mark.parametrize("query", ["before=x", "before=-1", "before=" + "9" * 30, "domain=%00"])
def test_nonsense_is_no_error(ava: Client, query: str) -> None:
    shown(ava, f"/economics?{query}")

    assert b"".join(ava.get(f"/economics.csv?{query}").streaming_content)  # type: ignore[attr-defined]


def test_the_file_has_every_question(
    ava: Client, team: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(economics_page, "CHUNK", 2)
    ask(team, 5)

    answer = ava.get("/economics.csv")
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]

    assert lines[0].startswith("Number,Asked,Agent")
    assert len(lines) == 6
    assert ",scribe,growth,execute,agent/scribe," in lines[1]


@pytest.mark.parametrize("count", [3, 30])
def test_more_budgets_and_questions_cost_no_more_statements(
    ava: Client, team: Clock, count: int
) -> None:
    for number in range(count):
        spec = {"domain": f"d{number}", "period": "monthly", "limits": {"tokens": {"monthly": 9}}}
        apply(team.now, made("Budget", f"budget-{number}", spec))
    ask(team, count)
    ava.get("/economics")

    taken = statements(ava, "/economics")

    assert taken == expected("each", "economics of many", taken)


def test_the_navigation_leads_here(ava: Client) -> None:
    page = ava.get("/economics").content.decode()

    assert '<a href="/economics" aria-current="page">' in page
    assert "Economics" in shown(ava, "/more")


def test_only_people_who_signed_in_see_it(team: Clock) -> None:
    assert Client().get("/economics").status_code == 302
    assert Client().get("/economics.csv").status_code == 302
