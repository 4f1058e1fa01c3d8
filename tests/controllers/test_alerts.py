"""Alerts: one for each channel, ringing once, over when what they are about is over."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Alert
from resources.documents.actor import SYSTEM
from resources.usecases import deletion, statuses
from tests.conftest import Clock
from tests.controllers.faults import Fire, doing, succeeds, understaffed
from tests.controllers.making import (
    KEEPER,
    WANTED,
    alerts,
    controller,
    declare,
    domain,
    drifted,
    healthy,
    judged,
    measure,
    runtime,
    said,
    told,
    while_judging,
    work,
)
from tests.resources.making import ALICE, live, made

pytestmark = pytest.mark.django_db

RINGING: dict[str, Any] = {
    "onDrift": [
        {"type": "alert", "severity": "warning", "channels": ["slack-ops", "email-cto"]},
        {"type": "log", "level": "warning"},
    ]
}


@pytest.fixture
def harbour(clock: Clock) -> None:
    """A harbour that was well when it was first looked at."""
    healthy(clock, "harbour")
    declare(clock, controller(actions=RINGING))
    work(clock)


def ships(clock: Clock, number: int) -> None:
    """Measure the harbour's ships and let the controller look."""
    measure(clock, "harbour", number)
    work(clock)
    clock.advance(minutes=1)


@pytest.mark.usefixtures("harbour")
def test_each_channel_gets_an_alert_of_the_declared_severity(clock: Clock) -> None:
    """I-14 I-54"""
    ships(clock, 1)

    found = alerts()
    assert [(each.channel, each.severity) for each in found] == [
        ("slack-ops", "warning"),
        ("email-cto", "warning"),
    ]
    assert {each.resource for each in found} == {live("Domain", "harbour")}
    assert found[0].message == (
        "domain/harbour: 1 of 1 KPIs misses its target: ships is 1 (wanted >= 100)."
    )
    [event] = told("controller.drift-detected")
    assert {each.correlation_id for each in found} == {event.correlation_id}


@pytest.mark.usefixtures("harbour")
def test_a_log_action_is_an_event_at_its_level(clock: Clock) -> None:
    """I-19"""
    ships(clock, 1)

    [logged] = told("controller.logged")
    assert (logged.category, logged.severity) == ("log", "warning")
    assert logged.subject == "domain/harbour"


def test_when_all_are_healthy_that_is_logged(clock: Clock) -> None:
    """I-19 I-22"""
    healthy(clock, "east", "west")
    actions = {"onHealthy": [{"type": "log", "level": "info"}], "onDrift": [{"type": "alert"}]}
    declare(clock, controller(actions=actions))
    work(clock)

    [logged] = told("controller.logged")
    assert (logged.severity, logged.payload["message"]) == (
        "info",
        "All 2 domains are healthy",
    )
    assert alerts() == []
    measure(clock, "east", 1)
    work(clock)
    assert len(told("controller.logged")) == 1


def test_what_is_not_known_is_not_healthy(clock: Clock) -> None:
    """I-22"""
    healthy(clock, "east")
    declare(clock, domain("silent"))
    declare(clock, controller(actions={"onHealthy": [{"type": "log"}]}))
    work(clock)

    assert not told("controller.logged")
    assert said(KEEPER, "TargetsHealthy", "Controller") == ("False", "NotAllKnown")


def test_the_first_look_is_one_sum_and_no_storm(clock: Clock) -> None:
    """O-10"""
    names = [f"berth-{number:03}" for number in range(150)]
    declare(clock, *(domain(name) for name in names))
    seen = {"kpis": [{"name": "ships", "value": 1}]}
    declare(clock, *(made("Domain", f"old-{name}", status=seen) for name in names[:3]))
    for name in names[:120]:
        measure(clock, name, 1)
    declare(clock, controller(actions=RINGING))
    work(clock)

    assert [(each.reason, each.channel) for each in alerts()] == [
        ("FirstLook", "slack-ops"),
        ("FirstLook", "email-cto"),
    ]
    assert alerts()[0].message == "First look of keeper: 120 of 153 drifted."
    assert alerts()[0].resource == live("Controller", KEEPER)

    measure(clock, names[-1], 1)
    work(clock)
    assert [each.reason for each in alerts()][2:] == ["Drift", "Drift"]


def test_the_first_look_is_over_when_all_is_well(clock: Clock) -> None:
    """O-10"""
    drifted(clock, "east", "west")
    declare(clock, controller(actions=RINGING))
    work(clock)
    measure(clock, "east", WANTED)
    work(clock)
    assert [each.reason for each in alerts()] == ["FirstLook"] * 2
    measure(clock, "west", WANTED)
    work(clock)

    assert alerts() == []


@pytest.mark.usefixtures("harbour")
def test_an_alert_rings_once(clock: Clock) -> None:
    """I-88 F-41"""
    for number in (1, 2, 3, 1):
        ships(clock, number)

    assert Alert.objects.count() == 2


@pytest.mark.usefixtures("harbour")
def test_what_is_over_is_resolved_and_what_comes_back_rings_again(clock: Clock) -> None:
    """A-31 I-88"""
    ships(clock, 1)
    ended = clock.now
    ships(clock, WANTED)
    assert alerts() == []
    assert {each.resolved_at for each in Alert.objects.all()} == {ended}

    ships(clock, 1)
    assert len(alerts()) == 2
    assert Alert.objects.count() == 4


def many(clock: Clock, well: int) -> None:
    """Report a domain with ten figures, so many of them as they should be."""
    figures = [{"name": f"ships-{n}", "value": WANTED if n < well else 0} for n in range(10)]
    told_so = statuses.Report("Domain", "harbour", {"kpis": figures})
    statuses.observe([told_so], actor=SYSTEM, now=clock.now)
    work(clock)
    clock.advance(minutes=1)


def test_it_rings_again_only_when_it_becomes_more_urgent(clock: Clock) -> None:
    """A-31 I-88 Four bands from low to critical; better is never news."""
    kpis = [
        {"name": f"ships-{n}", "target": {"operator": "gte", "value": WANTED, "unit": ""}}
        for n in range(10)
    ]
    declare(clock, made("Domain", "harbour", {"kpis": kpis}))
    declare(clock, controller(actions=RINGING, drift={"weights": {"health": 0}}))
    many(clock, 10)
    rung = []
    for well in (8, 7, 9, 8, 8, 4, 6, 4, 10):
        before = len(told("controller.drift-detected"))
        many(clock, well)
        rung.append((judged("harbour").urgency, len(told("controller.drift-detected")) - before))

    assert rung == [
        ("medium", 1),
        ("high", 1),
        ("none", 0),
        ("medium", 1),
        ("medium", 0),
        ("critical", 1),
        ("high", 0),
        ("critical", 1),
        ("none", 0),
    ]
    assert alerts() == []


def test_a_drift_that_was_unknown_in_between_is_over_too(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-36"""
    failing = [False]

    def happens(_: str) -> None:
        if failing[0]:
            raise TypeError("unsupported operand")

    while_judging(monkeypatch, happens)
    healthy(clock, "harbour")
    declare(clock, controller(actions=RINGING))
    work(clock)
    ships(clock, 1)
    failing[0] = True
    ships(clock, 2)
    assert (judged("harbour").status, len(alerts())) == ("Unknown", 2)
    failing[0] = False
    ships(clock, WANTED)

    assert (judged("harbour").status, alerts()) == ("True", [])


def test_one_resource_does_not_silence_another(clock: Clock) -> None:
    """I-14 Two that are told of different things in one breath keep all they were told."""
    healthy(clock, "east", "west")
    spec: dict[str, Any] = {
        "enforcementMode": "enforce",
        "approval": "auto",
        "convergence": {"maxIterations": 1},
        "actions": {"onDrift": [{"type": "alert"}, {"type": "reconcile"}]},
    }
    declare(clock, controller(KEEPER, **spec))
    work(clock)
    understaffed(clock, "east")
    work(clock, effects=doing(succeeds))
    clock.advance(minutes=5)
    understaffed(clock, "west")
    work(clock, effects=doing(succeeds))

    found = {(each.resource.name, each.reason) for each in alerts()}
    assert found == {("east", "Drift"), ("east", "NotConverging"), ("west", "Drift")}


def test_an_error_that_stays_the_same_rings_once(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-21 F-41"""
    fire = Fire(monkeypatch)
    healthy(clock, "harbour")
    declare(clock, controller(actions={"onError": [{"type": "alert", "severity": "critical"}]}))
    for _ in range(3):
        work(clock)
        clock.advance(minutes=5)
    assert Alert.objects.filter(reason="Error").count() == 1
    fire.burns = False
    work(clock)

    assert alerts() == []


def test_an_escalation_goes_the_way_its_governance_declares(clock: Clock) -> None:
    """I-14 I-20"""
    paths = [
        {"level": 2, "role": "vp", "channel": "pagerduty", "timeout": "30m"},
        {"level": 1, "role": "lead", "channel": "slack-ops", "timeout": "15m"},
    ]
    healthy(clock, "harbour")
    rules = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Governance",
        "metadata": {"name": "rules"},
        "spec": {"domain": "harbour", "escalation": {"paths": paths}},
    }
    declare(clock, rules)
    declare(clock, controller(actions={"onDrift": [{"type": "escalate", "severity": "error"}]}))
    work(clock)
    measure(clock, "harbour", 1)
    work(clock)

    assert [(each.channel, each.severity) for each in alerts()] == [("slack-ops", "error")]


@pytest.mark.usefixtures("harbour")
def test_what_is_deleted_is_no_longer_alerted(clock: Clock) -> None:
    """I-72"""
    ships(clock, 1)
    deletion.delete("Domain", "harbour", actor=ALICE, now=clock.now)
    work(clock)

    assert alerts() == []
    assert runtime().watched == 0
