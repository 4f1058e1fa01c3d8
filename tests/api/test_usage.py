"""What agents spend is counted once, held against budgets, and told to people."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers import admission, budgets
from controllers.budgets import price_list
from controllers.common import retention
from controllers.models import Admission, Alert, Consumption, Crossing, Delivery, Usage, Violation
from resources.tables.ledger import instant
from resources.tables.models import LedgerEvent, ResourceRevision
from tests.api.conftest import Api, apply, assert_fits, issue
from tests.api.spending import (
    agent,
    another,
    asked,
    budget,
    codes,
    events,
    redeem,
    spend,
    status,
    warned,
)
from tests.conftest import Clock
from tests.decisions.making import person

pytestmark = [pytest.mark.django_db, pytest.mark.full]


@pytest.fixture
def robin(organisation: None) -> Api:
    """Return the agent of growth, which acts alone there."""
    apply(agent("robin"))
    return Api(Client(), issue("robin"))


@pytest.fixture
def priya(today: Clock) -> User:
    """Return an administrator."""
    return person(today, "priya", "administrator")


def counter(name: str = "growth", window: str = "monthly", unit: str = "tokens") -> Consumption:
    return Consumption.objects.get(name=name, window=window, unit=unit)


def results(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.content
    assert_fits(answer.json(), "UsageReported")
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_what_is_reported_is_counted_in_every_window(robin: Api) -> None:
    [found] = results(spend(robin, 120, cost={"value": 0.25, "currency": "EUR"}))

    assert (found["verdict"], found["cost"]) == ("counted", {"value": 0.25, "currency": "EUR"})
    for window in ("daily", "monthly", "quarterly"):
        assert [counter(name, window).consumed for name in ("growth", "robin")] == [120, 120]
        assert counter("growth", window, "EUR").consumed == 250_000
    [entry] = events("usage.recorded")
    assert entry.payload | {} == {
        "records": 1,
        "tokens": 120,
        "cost": {"EUR": 250_000},
        "unpriced": 0,
        "permitted": 0,
    }


def test_a_repeated_record_is_counted_once(robin: Api) -> None:
    first = results(spend(robin, 120, id="call-1"))
    second = results(spend(robin, 120, id="call-1"))
    keyed = [results(spend(robin, 30, key="k")), results(spend(robin, 30, key="k"))]

    assert [each[0]["verdict"] for each in (first, second)] == ["counted", "repeated"]
    assert [each[0]["verdict"] for each in keyed] == ["counted", "repeated"]
    assert counter().consumed == 150
    assert len(events("usage.recorded")) == 2


def test_a_record_named_by_the_longest_key_is_listed_as_described(robin: Api) -> None:
    assert spend(robin, key="k" * 200).status_code == 200

    page = robin.get("usage").json()

    assert page["items"][0]["id"] == f"{'k' * 200}/0"
    assert_fits(page, "UsageList")


def test_another_record_under_the_same_name_is_refused(robin: Api) -> None:
    spend(robin, 120, id="call-1")

    [found] = results(spend(robin, 999, id="call-1"))

    assert found["verdict"] == "refused"
    assert found["problems"][0]["pointer"] == "/id"
    assert counter().consumed == 120


def test_each_record_of_a_batch_has_its_own_verdict(robin: Api) -> None:
    items = [
        {"id": "a", "tokens": {"input": 10}},
        {"id": "a", "tokens": {"input": 10}},
        {"id": "b", "tokens": {"input": -1}},
        {"id": "c", "tokens": {"output": 5}, "nonsense": 1},
        7,
        {"id": "d", "tokens": {}, "at": instant(timezone.now() + timedelta(hours=1))},
        {"id": "e", "tokens": {}, "at": instant(timezone.now() - timedelta(days=9))},
        {"id": "f", "tokens": {"output": 5}, "at": instant(timezone.now() - timedelta(seconds=1))},
    ]

    found = results(robin.post("usage", {"items": items}))

    assert [each["verdict"] for each in found] == [
        "counted",
        "repeated",
        *["refused"] * 5,
        "counted",
    ]
    places = [each["problems"][0]["pointer"] for each in found if "problems" in each]
    assert places == ["/tokens/input", "/nonsense", "", "/at", "/at"]
    assert counter().consumed == 15


@pytest.mark.parametrize(
    "body",
    [
        {"items": []},
        {"items": {}},
        {"items": [{}] * 501},
        {"items": [{}], "id": "x"},
        {"tokens": {"input": 10**12}},
        {"id": "x" * 1_000_000},
        {"id": "x\n"},
        {"decision": "x" * 254},
        {"at": "yesterday"},
        {"unknown": 1},
    ],
)
def test_bad_reports_are_answered_with_what_is_wrong(robin: Api, body: dict[str, Any]) -> None:
    answer = robin.post("usage", body)

    assert answer.status_code == 400, answer.content
    assert "pointer" in answer.json()
    assert not Usage.objects.exists()
    assert not Consumption.objects.exists()


def test_only_agents_report_and_only_for_themselves(robin: Api, alice: Api, stranger: Api) -> None:
    narrow = Api(Client(), issue("robin", "admission:ask"))

    assert spend(alice).json()["detail"] == "Only agents report what they spent."
    assert [spend(each).status_code for each in (stranger, narrow)] == [401, 403]
    assert spend(robin, agent="wren").status_code == 400
    assert not Usage.objects.exists()


def test_a_price_is_the_administrators_to_set(robin: Api, priya: User, today: Clock) -> None:
    model = {"provider": "openai", "name": "gpt-4o"}
    [before] = results(spend(robin, 1_000_000, model=model))

    price_list.put("openai", "gpt-4o", ("2.50", "10"), "USD", person=priya, now=today.now)
    [after] = results(robin.post("usage", {"tokens": {"input": 1, "output": 3}, "model": model}))

    assert (before["priced"], before["cost"]["value"]) == ("unknown", 0)
    assert (after["priced"], after["cost"]["value"]) == ("table", 0.000033)
    assert counter(unit="USD").consumed == 33
    assert events("price.set")[0].actor == "person/priya"


def test_a_hard_budget_stops_before_its_limit_and_not_after(robin: Api) -> None:
    apply(budget(alerts=[{"threshold": 1.0, "channels": ["pagerduty"]}]))
    told = []
    for _ in range(12):
        found = asked(robin)
        told.append(found["decision"])
        if found["decision"] == "allowed":
            assert results(spend(robin, 100, permit=found["permit"]))[0]["permit"] == "settled"

    assert told == ["allowed"] * 10 + ["denied"] * 2
    row = counter()
    assert (row.consumed, row.reserved) == (1_000, 0)
    assert len(events("growth.budget_exceeded")) == 1
    assert [each.channel for each in Delivery.objects.all()] == ["pagerduty"]


def test_what_is_promised_counts_before_it_is_spent(robin: Api) -> None:
    apply(budget())

    found = [asked(robin)["decision"] for _ in range(11)]

    assert found == ["allowed"] * 10 + ["denied"]
    assert (counter().consumed, counter().reserved) == (0, 1_000)


def test_a_permit_that_nobody_uses_gives_back_what_was_set_aside(robin: Api) -> None:
    apply(budget())
    asked(robin)
    later = timezone.now() + timedelta(minutes=2)

    admission.sweep(later)

    assert Admission.objects.get().state == "lapsed"
    assert counter().reserved == 0


def test_a_permit_that_was_used_and_never_reported_keeps_what_was_set_aside(robin: Api) -> None:
    apply(budget())
    assert redeem(robin, asked(robin)).status_code == 200
    later = timezone.now() + timedelta(hours=2)

    admission.sweep(later)
    admission.look_after(later)

    assert Admission.objects.get().state == "unreported"
    assert counter().reserved == 100
    assert len(events("admission.unreported")) == 1


def test_a_redeemed_permit_is_settled_by_its_report(robin: Api) -> None:
    apply(budget())
    found = asked(robin)
    redeem(robin, found)

    [first] = results(spend(robin, 80, permit=found["permit"]))
    [second] = results(spend(robin, 80, permit=found["permit"]))

    assert (first["permit"], second["permit"]) == ("settled", "Replayed")
    assert (counter().consumed, counter().reserved) == (160, 0)
    assert [each.payload["code"] for each in events("admission.refused")] == ["Replayed"]


def test_spending_without_a_permit_is_counted_and_a_violation(robin: Api) -> None:
    apply(budget())

    [found] = results(spend(robin, 950))

    assert found["permit"] == "none"
    assert counter().consumed == 950
    violation = Violation.objects.get()
    assert (violation.code, violation.policy.name) == ("WithoutPermit", "growth-budget")
    assert codes(asked(robin)) == ["BudgetSpent"]


def test_spending_more_than_a_permit_was_for_is_a_violation(robin: Api) -> None:
    apply(budget())
    found = asked(robin)

    results(spend(robin, 300, permit=found["permit"]))

    assert Violation.objects.get().code == "BeyondPermit"
    assert (counter().consumed, counter().reserved) == (300, 0)


def test_another_agents_permit_covers_nothing(robin: Api) -> None:
    apply(budget())
    jay, found = another("jay"), asked(robin)

    [stolen] = results(spend(jay, 100, permit=found["permit"]))

    assert stolen["permit"] == "Foreign"
    assert Admission.objects.get(pk=found["id"]).state == "allowed"
    assert events("admission.refused")[0].actor == "agent/jay"


def test_in_warn_mode_the_call_passes_and_the_alert_arrives_once(robin: Api) -> None:
    alerts = [{"threshold": 1.0, "severity": "critical", "channels": ["slack-ops"]}]
    apply(budget(enforcement="warn", alerts=alerts))

    for _ in range(15):
        found = asked(robin)
        assert found["decision"] == "allowed"
        spend(robin, 100, permit=found["permit"])
        budgets.publish(timezone.now())

    assert warned(found) == ["BudgetSpent"]
    assert len(events("growth.budget_exceeded")) == 1
    assert Crossing.objects.get().event == "budget_exceeded"
    assert Alert.objects.count() == 1
    assert Delivery.objects.count() == 1


def test_thresholds_ring_once_each_in_a_period_on_their_channels(robin: Api) -> None:
    alerts = [
        {"threshold": 0.5, "severity": "info", "channels": ["slack-ops", "email-cto"]},
        {"threshold": 0.9, "severity": "warning", "channels": ["pagerduty"]},
    ]
    apply(budget(enforcement="warn", alerts=alerts))
    heard = []
    for amount in (400, 200, 50, 300, 100):
        spend(robin, amount)
        budgets.publish(timezone.now())
        budgets.publish(timezone.now())
        heard.append(list(Crossing.objects.order_by("pk").values_list("mark", flat=True)))

    assert heard == [[], ["0.5"], ["0.5"], ["0.5", "0.9"], ["0.5", "0.9", "1"]]
    channels = sorted(Delivery.objects.values_list("channel", flat=True))
    assert channels == ["email-cto", "pagerduty", "pagerduty", "slack-ops"]
    assert len(events("growth.budget_threshold_reached")) == 2


def test_without_alerts_a_budget_rings_at_the_usual_thresholds(robin: Api) -> None:
    apply(budget(enforcement="warn"))

    spend(robin, 950)
    budgets.publish(timezone.now())

    assert sorted(Crossing.objects.values_list("mark", flat=True)) == ["0.7", "0.9"]


def test_statuses_tell_what_was_counted(robin: Api) -> None:
    limits = {"tokens": {"monthly": 1_000}, "cost": {"monthly": 2, "currency": "EUR"}}
    apply(budget(enforcement="warn", limits=limits, agents=[{"name": "robin", "allocation": 0.5}]))
    apply(agent("robin", tokenBudget={"maxDaily": 10_000}))
    spend(robin, 600, cost={"value": 0.5, "currency": "EUR"})

    budgets.publish(timezone.now())

    said = status("Budget", "growth-budget")
    assert said["consumed"] == {"tokens": 600, "cost": 0.5, "currency": "EUR"}
    assert said["utilizationRate"] == 0.6
    assert said["byAgent"] == [{"name": "robin", "tokens": 600, "cost": 0.5, "currency": "EUR"}]
    assert said["projectedEndOfPeriod"]["tokens"] >= 600
    assert said["alertsTriggered"] == 1
    assert Crossing.objects.get().event == "budget_agent_overspend"
    mine = status("Agent", "robin")["costConsumed"]
    day = timezone.now().date().isoformat()
    assert mine == {"tokens": 600, "cost": 0.5, "currency": "EUR", "period": day}


def test_a_thousand_calls_rewrite_a_budget_once_and_nothing_new_rewrites_nothing(
    robin: Api,
) -> None:
    apply(budget(enforcement="observe"))
    items = [{"tokens": {"input": 1}} for _ in range(500)]
    for _ in range(2):
        robin.post("usage", {"items": items})
    before = ResourceRevision.objects.filter(kind="Budget").count()

    assert budgets.publish(timezone.now()) > 0
    assert budgets.publish(timezone.now()) == 0
    assert budgets.renew(timezone.now()) == 0

    assert ResourceRevision.objects.filter(kind="Budget").count() == before + 1
    assert status("Budget", "growth-budget")["consumed"]["tokens"] == 1_000


def test_a_new_period_begins_at_nothing(robin: Api) -> None:
    apply(budget(enforcement="warn"))
    spend(robin, 950)
    budgets.publish(timezone.now())
    assert Alert.objects.filter(resolved_at=None).exists()

    budgets.renew(timezone.now() + timedelta(days=32))

    assert status("Budget", "growth-budget")["consumed"]["tokens"] == 0
    assert not Alert.objects.filter(resolved_at=None).exists()


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ({"limits": {"tokens": {"daily": 150}}}, "BudgetSpent"),
        ({"limits": {"tokens": {"quarterly": 150}}}, "BudgetSpent"),
        ({"limits": {"cost": {"monthly": 0.01}}}, "BudgetSpent"),
        ({"period": "2020-01-01/2030-12-31", "limits": {"tokens": {"daily": 150}}}, "BudgetSpent"),
        ({"agents": [{"name": "robin", "allocation": 0.15}]}, "ShareSpent"),
    ],
)
def test_every_limit_of_a_budget_stops_an_agent(
    robin: Api, declared: dict[str, Any], code: str
) -> None:
    apply(budget(**declared))
    cost = {"value": 0.006, "currency": "USD"}

    first, second = asked(robin, cost=cost), asked(robin, cost=cost)

    assert (first["decision"], codes(second)) == ("allowed", [code])


def test_an_agents_own_token_budget_stops_it_where_its_domain_enforces(robin: Api) -> None:
    apply(budget(), agent("robin", tokenBudget={"maxDaily": 150}))

    assert asked(robin)["decision"] == "allowed"
    assert codes(asked(robin)) == ["TokensSpent"]


def test_an_agents_own_limit_rings_once_a_day(robin: Api) -> None:
    apply(agent("robin", tokenBudget={"maxDaily": 50}))

    found = [asked(robin) for _ in range(3)]

    assert {each["decision"] for each in found} == {"allowed"}
    assert warned(found[-1]) == ["TokensSpent"]
    assert [(each.resource.name, each.resolved_at) for each in Alert.objects.all()] == [
        ("robin", None)
    ]
    budgets.renew(timezone.now() + timedelta(days=1))
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_money_that_cannot_be_compared_does_not_pass_a_limit(robin: Api) -> None:
    apply(budget(limits={"cost": {"monthly": 5, "currency": "EUR"}}))

    dollars = asked(robin, cost={"value": 0.01, "currency": "USD"})
    unknown = asked(robin, model={"provider": "openai", "name": "gpt-4o"})

    assert [codes(each) for each in (dollars, unknown)] == [["CostUnknown"]] * 2


def test_the_list_of_usage_goes_on_where_the_page_before_ended(robin: Api, alice: Api) -> None:
    for number in range(3):
        spend(robin, 10, id=f"call-{number}", decision="dec-1", workflow="w")
    jay = another("jay")

    first = alice.get("usage", "limit=2&agent=robin&decision=dec-1").json()
    rest = alice.get(
        "usage", f"limit=2&agent=robin&decision=dec-1&cursor={first['nextCursor']}"
    ).json()

    assert_fits(first, "UsageList")
    assert [each["id"] for each in (*first["items"], *rest["items"])] == [
        "call-2",
        "call-1",
        "call-0",
    ]
    assert jay.get("usage").json()["items"] == []


def test_economics_shows_who_spent_what_on_what(robin: Api, alice: Api) -> None:
    apply(budget(enforcement="warn"))
    jay = another("jay", "finance")
    model = {"provider": "openai", "name": "gpt-4o"}
    spend(robin, 800, cost={"value": 2}, model=model, decision="dec-1", workflow="refunds")
    spend(jay, 100, cost={"value": 1, "currency": "EUR"})
    budgets.publish(timezone.now())

    found = alice.get("economics").json()

    assert_fits(found, "Economics")
    assert found["spend"] == {"tokens": 900, "cost": {"EUR": 1.0, "USD": 2.0}}
    assert found["byDomain"][0] == {"domain": "growth", "tokens": 800, "cost": {"USD": 2.0}}
    assert [each["agent"] for each in found["byAgent"]] == ["robin", "jay"]
    assert found["byModel"] == [{"model": "openai/gpt-4o", "tokens": 800, "cost": {"USD": 2.0}}]
    assert found["byDecision"][0]["decision"] == "dec-1"
    assert found["byWorkflow"][0]["workflow"] == "refunds"
    assert [each["tokens"] for each in found["overTime"]] == [900]
    [stood] = found["budgets"]
    assert (stood["utilizationRate"], stood["limits"]["tokens"]) == (0.8, 1_000)
    assert [each["mark"] for each in found["alerts"]] == ["0.7"]


def test_an_agent_sees_the_economics_of_its_own_domain(robin: Api, alice: Api) -> None:
    jay = another("jay", "finance")
    model = {"provider": "openai", "name": "gpt-4o"}
    spend(robin, 800)
    spend(jay, 100, model=model, decision="dec-2")

    mine, narrowed = robin.get("economics").json(), alice.get("economics", "domain=finance").json()

    assert [each["domain"] for each in mine["byDomain"]] == ["growth"]
    assert (mine["spend"]["tokens"], mine["byModel"], mine["byDecision"]) == (800, [], [])
    assert (narrowed["spend"]["tokens"], len(narrowed["byModel"])) == (100, 1)
    assert robin.get("economics", "domain=finance").status_code == 404
    assert "jay" not in str(mine)


@pytest.mark.parametrize(
    "query", ["since=yesterday", "since=2026-01-01&until=2025-01-01", "until=9999-12-31", "x=1"]
)
def test_economics_is_strict_about_its_parameters(alice: Api, query: str) -> None:
    assert alice.get("economics", query).status_code == 400


def test_spending_is_in_the_ledger(robin: Api) -> None:
    spend(robin, 10)

    assert LedgerEvent.objects.filter(category="metric", event="usage.recorded").count() == 1


def test_what_was_spent_long_ago_is_forgotten_and_its_sum_is_not(robin: Api) -> None:
    found = asked(robin)
    spend(robin, 10, permit=found["permit"])
    asked(robin, operation="read")
    later = timezone.now() + timedelta(days=500)

    retention.sweep(later)

    assert not Usage.objects.exists()
    assert [each.state for each in Admission.objects.all()] == ["allowed"]
    assert counter().consumed == 10
    dropped = {each.payload["count"] for each in events("retention.dropped")}
    assert dropped == {1}


def test_a_record_of_nothing_is_refused(robin: Api) -> None:
    answer = robin.post("usage", {})

    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("Say what was spent")
    (said,) = robin.post("usage", {"items": [{"id": "a"}]}).json()["items"]
    assert said["verdict"] == "refused"
    assert not Usage.objects.exists()
