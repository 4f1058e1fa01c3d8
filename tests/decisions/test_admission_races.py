"""Many at once: no hard stop is passed by even one call, and sums are what was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controllers import admission, budgets
from controllers.admission import Request, UsageEntry
from controllers.budgets import Claim
from controllers.decisions import holds
from controllers.models import Admission, Consumption, Crossing, Hold, Usage
from resources.documents.actor import Actor
from resources.documents.problems import Problem
from resources.tables.models import AgentToken, LedgerEvent
from resources.usecases import tokens
from tests.conftest import Clock
from tests.decisions.making import agent, person
from tests.resources.conftest import real_database as real_database
from tests.resources.making import apply, made
from tests.resources.racing import together
from tests.tiers import examples

pytestmark = pytest.mark.servers

ALICE = Actor("person", "alice")
THREADS, CALLS, COST = 8, 12, 7
LIMIT = 500
real = pytest.mark.usefixtures("real_database")


def token(clock: Clock, name: str = "scribe") -> AgentToken:
    """Return the token of an agent."""
    scopes = ("admission:ask", "usage:write")
    made = tokens.issue(
        name, scopes=scopes, lifetime=timedelta(hours=1), actor=ALICE, now=clock.now
    )
    return made.token


def budget(clock: Clock, **spec: Any) -> None:
    """Declare a budget of growth."""
    declared = {
        "domain": "growth",
        "period": "monthly",
        "limits": {"tokens": {"monthly": LIMIT}},
        "enforcement": "enforce",
    } | spec
    assert apply(clock.now, made("Budget", "growth-budget", declared)).written


def call(token: AgentToken) -> str:
    """Ask, call, report: what an agent's tool wrapper does."""
    request = Request("execute", f"agent/{token.agent.name}", Claim(COST))
    row = admission.ask(request, token, datetime.now(UTC))
    if row.state != "allowed":
        return row.state
    item = UsageEntry(Claim(COST), permit=admission.text_of(row))
    [found] = admission.report([item], token, datetime.now(UTC))
    return found.permit


def loop(token: AgentToken) -> list[str]:
    """Call as fast as it goes."""
    return [call(token) for _ in range(CALLS)]


def total(name: str = "growth", window: str = "monthly") -> Consumption:
    return Consumption.objects.get(name=name, window=window, unit="tokens")


@real
@pytest.mark.parametrize("period", ["monthly", "2020-01-01/2030-12-31"])
def test_eight_looping_threads_never_pass_a_hard_budget_by_even_one_call(
    clock: Clock, period: str
) -> None:
    agents = [agent(clock, f"scribe-{number}") for number in range(THREADS)]
    budget(clock, period=period)
    held = [token(clock, each.name) for each in agents]

    told = together([partial(loop, each) for each in held])

    words = Counter(word for each in told for word in each)
    assert words == {"settled": LIMIT // COST, "denied": THREADS * CALLS - LIMIT // COST}
    row = total()
    assert (row.consumed, row.reserved) == (LIMIT // COST * COST, 0)
    assert row.consumed <= LIMIT < row.consumed + COST
    assert Crossing.objects.filter(event="budget_exceeded").count() == 1
    budgets.publish(datetime.now(UTC))
    assert LedgerEvent.objects.filter(event="growth.budget_exceeded").count() == 1


@real
def test_one_agent_with_eight_threads_stays_within_its_own_tokens(clock: Clock) -> None:
    agent(clock, tokenBudget={"maxDaily": 100})
    budget(clock)
    mine = token(clock)

    together([lambda: [call(mine) for _ in range(5)]] * THREADS)

    row = total("scribe", "daily")
    assert (row.consumed, row.reserved) == (98, 0)


@real
def test_one_permit_is_redeemed_by_one_of_many(clock: Clock) -> None:
    agent(clock)
    mine = token(clock)
    request = Request("execute", "agent/scribe", Claim(COST))
    row = admission.ask(request, mine, clock.now)
    text = admission.text_of(row)

    def use() -> str:
        try:
            return admission.redeem(row.pk, text, request, mine, clock.now).state
        except Problem as refused:
            return refused.rule

    assert Counter(together([use] * THREADS)) == {"redeemed": 1, "Replayed": THREADS - 1}


@real
def test_the_same_record_from_many_is_counted_once(clock: Clock) -> None:
    agent(clock)
    mine = token(clock)
    item = UsageEntry(Claim(COST), record="call-1")

    found = together([lambda: admission.report([item], mine, clock.now)[0].verdict] * THREADS)

    assert Counter(found) == {"counted": 1, "repeated": THREADS - 1}
    assert total().consumed == COST


@real
def test_no_permit_is_used_after_a_hold_was_acknowledged(clock: Clock) -> None:
    """Pauses and redemptions at once: whatever is redeemed was redeemed before the pause."""
    row, mine = agent(clock), token(clock)
    ines = person(clock, "ines", "operator")
    request = Request("execute", "agent/scribe", Claim(COST))
    asked = [admission.ask(request, mine, clock.now) for _ in range(THREADS)]
    texts = {each.pk: admission.text_of(each) for each in asked}

    def use(key: int) -> Any:
        try:
            admission.redeem(key, texts[key], request, mine, datetime.now(UTC))
        except Problem as refused:
            return refused.rule
        return "redeemed"

    def pause() -> str:
        wanted = holds.HoldRequest("pause", "resource", "Look.", resource=row.pk)
        holds.place(wanted, now=datetime.now(UTC), person=ines)
        done = Admission.objects.filter(state="redeemed").values_list("pk", flat=True)
        return f"paused after {len(done)}"

    told = together([*(partial(use, each.pk) for each in asked), pause])

    before = int(told[-1].rpartition(" ")[2])
    words = Counter(told[:-1])
    assert words["redeemed"] == before == Admission.objects.filter(state="redeemed").count()
    assert words["redeemed"] + words["EpochMoved"] == THREADS
    assert Hold.objects.count() == 1


RECORDS = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.integers(0, 1_000),
        st.integers(0, 10**6),
        st.sampled_from(["", "USD", "EUR"]),
        st.sampled_from(["", "dec-1", "dec-2"]),
        st.integers(0, 6),
    ),
    max_size=25,
)


@pytest.mark.django_db
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(records=RECORDS, cut=st.integers(1, 8))
def test_the_counters_are_the_sum_of_the_records_whatever_the_order_and_repeats(
    clock: Clock, records: list[Any], cut: int
) -> None:
    for table in (Usage, Consumption):
        table.objects.all().delete()
    mine = AgentToken.objects.select_related("agent").first()
    if mine is None:
        agent(clock)
        mine = token(clock)
    items = [
        UsageEntry(
            Claim(spent, spent // 2, cost, currency, "openai", "gpt-4o" if spent % 2 else ""),
            record=f"call-{name}",
            decision=decision,
            at=clock.now - timedelta(days=days),
        )
        for name, spent, cost, currency, decision, days in records
    ]
    for batch in (items[at : at + cut] for at in range(0, len(items), cut)):
        admission.report(batch, mine, clock.now)
        admission.report(batch[::-1], mine, clock.now)

    for window in ("daily", "monthly", "quarterly"):
        for name in ("growth", "scribe"):
            assert dict(counted(name, window)) == dict(recorded())
    for decision in ("dec-1", "dec-2"):
        assert dict(counted(decision, "ever")) == dict(recorded(decision=decision))
    assert dict(counted("openai/gpt-4o", "daily")) == dict(recorded(model="gpt-4o"))


def counted(name: str, window: str) -> Iterator[tuple[str, int]]:
    """Yield what the counters of somebody say, by unit."""
    rows = Consumption.objects.filter(name=name, window=window).order_by()
    for unit, amount in rows.values_list("unit").annotate(all=Sum("consumed")):
        if amount:
            yield unit, amount


def recorded(**which: str) -> Iterator[tuple[str, int]]:
    """Yield what the records say, by unit."""
    sums: Counter[str] = Counter()
    for each in Usage.objects.filter(**which):
        sums["tokens"] += each.tokens_in + each.tokens_out
        sums[each.currency] += each.cost
    yield from ((unit, amount) for unit, amount in sums.items() if amount)
