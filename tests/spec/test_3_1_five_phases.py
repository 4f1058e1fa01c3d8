"""Specification, section 3.1: WATCH, DIFF, PLAN, ACT, REPORT, and again."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.engine.cycle import PHASES
from controllers.models import Judgement, Proposal
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.controllers.making import (
    alerts,
    cycles,
    declare,
    judgement,
    own,
    told,
    while_judging,
    work,
)
from tests.resources.making import live, made, shown
from tests.spec.organisation import (
    CONVERGED,
    DOMAINS,
    NAME,
    controller,
    domain,
    miss,
    observe,
    understaff,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("three_domains"), pytest.mark.sqlite]


def judged(name: str) -> Judgement:
    found = judgement(name, NAME)
    assert found is not None
    return found


def counts(number: int) -> dict[str, int]:
    found: dict[str, int] = cycles(NAME)[number].counts
    return found


# WATCH


def test_watch_selects_resources_by_kind_and_selector(clock: Clock) -> None:
    """I-09 I-38 O-04 What is declared later is seen without a restart."""
    declare(clock, domain("sandbox", tier="staging"))
    work(clock)
    declare(clock, domain("support"))
    work(clock)

    assert [counts(number)["watched"] for number in (0, 1)] == [3, 1]
    assert judgement("support", NAME) is not None


def test_watch_loads_the_current_spec_and_status(clock: Clock) -> None:
    """I-39 F-03 D-10"""
    declare(clock, domain("product", purpose="Sell more."))
    miss(clock, "product", 1)
    miss(clock, "product", 2)
    work(clock)
    first = judged("product")

    assert (first.generation, first.score) == (2, 0.2)
    assert first.version == live("Domain", "product").resource_version


def test_watch_leaves_out_what_was_reconciled_within_the_interval(clock: Clock) -> None:
    """I-40"""
    work(clock)
    clock.advance(minutes=3)
    miss(clock, "product", 1)
    work(clock)
    clock.advance(minutes=2)
    work(clock)

    assert [(counts(n)["watched"], counts(n)["judged"]) for n in (0, 1, 2)] == [
        (3, 3),
        (1, 1),
        (3, 2),
    ]


def test_a_change_does_not_wait_for_the_interval(clock: Clock) -> None:
    """I-41 F-02"""
    work(clock)
    clock.advance(seconds=1)
    miss(clock, "product")

    [cycle] = work(clock)

    assert (cycle.full, cycle.counts["judged"], judged("product").drifted) == (False, 1, True)


# DIFF


@pytest.mark.parametrize(
    ("kind", "name", "reported", "dimension", "score"),
    [
        ("Domain", "product", {"activeAgents": 1}, "field", 0.5),
        ("Domain", "product", {"kpis": [{"name": "orders", "value": 9}]}, "kpi", 1),
        ("Domain", "product", {"health": "degraded"}, "health", 0.5),
        ("Budget", "shared-budget", {"consumed": {"cost": 110}}, "budget", 0.1),
        ("SecurityPolicy", "shared-policy", {"violations": 1}, "security", 0.25),
    ],
    ids=["field", "kpi", "health", "budget", "security"],
)
def test_diff_measures_each_type_of_drift(
    clock: Clock, kind: str, name: str, reported: Any, dimension: str, score: float
) -> None:
    """I-43 I-44 I-45 I-46 I-47"""
    agents = ["ada", "bo"]
    staff = (made("Agent", each, {"domain": "product"}) for each in agents)
    declare(clock, domain("product", agents=agents), *staff)
    observe(clock, "Domain", "product", {"activeAgents": 2})
    work(clock)
    before = judged("product").dimensions[dimension]["score"]
    observe(clock, kind, name, reported)
    work(clock)

    after = judged("product").dimensions[dimension]["score"]
    expected = score if dimension != "health" else pytest.approx(1 / 3, abs=1e-6)
    assert (before, after) == (0, expected)


def test_diff_scores_from_perfect_convergence_to_total_divergence(clock: Clock) -> None:
    """I-42 I-64"""
    work(clock)
    miss(clock, "product", 3)
    observe(clock, "Domain", "product", {"health": "critical"})
    declare(clock, domain("product", agents=["nobody"]))
    observe(clock, "Domain", "product", {"activeAgents": 0})
    observe(clock, "Budget", "shared-budget", {"consumed": {"cost": 1_000}})
    observe(clock, "SecurityPolicy", "shared-policy", {"violations": 40})
    work(clock)

    assert (judged("product").score, judged("product").urgency) == (1, "critical")
    assert judged("growth").score == 0.4

    miss(clock, "growth", 0)
    observe(clock, "Budget", "shared-budget", {"consumed": {"cost": 100}})
    observe(clock, "SecurityPolicy", "shared-policy", {"violations": 0})
    work(clock)

    assert judged("growth").score == 0


# PLAN


@pytest.mark.parametrize(("threshold", "plans"), [(0.21, 0), (0.2, 1)])
def test_plan_skips_below_the_threshold_and_plans_from_it_on(
    clock: Clock, threshold: float, plans: int
) -> None:
    """I-48 I-49"""
    declare(clock, controller(driftThreshold=threshold))
    understaff(clock)
    work(clock)

    assert judged("product").score == 0.2
    assert Proposal.objects.count() == plans


@pytest.mark.parametrize(("mode", "plans"), [("enforce", 0), ("warn", 1)])
def test_plan_aborts_when_a_hook_fails_in_enforce_mode(
    clock: Clock, mode: str, plans: int
) -> None:
    """I-50 X-03 In enforce mode a hook cannot be told to fail open."""
    declare(clock, controller(enforcementMode=mode, failurePolicy="failOpen"))
    observe(clock, "Budget", "shared-budget", {"utilizationRate": 0.95})
    understaff(clock)

    [cycle] = work(clock)

    assert Proposal.objects.count() == plans
    assert cycle.outcome == ("hook_skipped" if mode == "enforce" else "acted")
    assert [each["name"] for each in cycle.hooks if not each["passed"]] == ["validate-budget"]


def test_plan_determines_actions_by_the_type_of_drift(clock: Clock) -> None:
    """I-51 What agents at work would not mend is not answered with more of them."""
    miss(clock, "growth", 2)
    understaff(clock)
    work(clock)

    assert [each.resource.name for each in Proposal.objects.all()] == ["product"]


# ACT


@pytest.mark.parametrize(
    ("mode", "lanes", "told_people"),
    [
        ("enforce", ["ask"], 1),
        ("warn", ["ask"], 1),
        ("advise", ["recommend"], 0),
        ("observe", [], 0),
    ],
)
def test_act_goes_as_far_as_the_mode_says(
    clock: Clock, mode: str, lanes: list[str], told_people: int
) -> None:
    """I-51 I-53 I-54 I-55 I-56 A-36"""
    declare(clock, controller(enforcementMode=mode))
    work(clock)
    understaff(clock)
    work(clock)

    assert [each.lane for each in Proposal.objects.all()] == lanes
    assert len(alerts(NAME)) == told_people
    assert len(told("controller.drift-detected")) == 1
    assert shown("Domain", "product")["status"]["activeAgents"] == 1


def test_act_records_each_action_with_time_and_result(clock: Clock) -> None:
    """I-57 I-89"""
    work(clock)
    clock.advance(seconds=7)
    miss(clock, "product")
    work(clock)

    [performed] = told("controller.action-performed")
    assert (performed.at, performed.payload["result"]) == (clock.now, "success")
    assert performed.payload["target"] == "domain/product"


# REPORT


def test_report_updates_the_controllers_status(clock: Clock) -> None:
    """I-29 I-58"""
    work(clock)
    clock.advance(seconds=5)
    miss(clock, "product")
    work(clock)

    status = shown("Controller", NAME)["status"]
    assert (status["lastReconcile"], status["driftDetected"]) == ("2026-11-16T10:00:05Z", True)
    assert len(status["actionsPerformed"]) == 2


def test_report_updates_the_conditions_of_the_targets(clock: Clock) -> None:
    """I-59"""
    declare(clock, domain("product", purpose="Sell more."))
    miss(clock, "product")
    work(clock)

    said = own("product", CONVERGED)
    assert said is not None
    assert (said.status, said.reason) == ("False", "DriftDetected")
    assert said.message.startswith("2 of 3 KPIs miss their target")
    assert said.extra == {"observedGeneration": 2}


def test_report_runs_hooks_after_the_status_and_ends_with_the_event(clock: Clock) -> None:
    """I-61 I-62 I-87 D-07"""
    hook = {"name": "tell", "event": "shop.reconciled"}
    declare(clock, controller(hooks={"postReconcile": [hook]}))
    miss(clock, "product")

    [cycle] = work(clock)

    story = LedgerEvent.objects.filter(correlation_id=cycle.correlation_id).order_by("pk")
    events = [each.event for each in story]
    assert events[0] == "controller.reconciliation-started"
    assert events[-2:] == ["shop.reconciled", "controller.reconciliation-completed"]
    assert "resource.condition-changed" in events[1:-2]


def test_report_is_written_when_the_cycle_fails_too(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-58 I-62 I-100 F-36"""

    def fail(name: str) -> None:
        if name == "growth":
            raise RuntimeError("Nobody can read this.")

    while_judging(monkeypatch, fail)

    [cycle] = work(clock)

    assert (cycle.outcome, cycle.phase) == ("partial", "diff")
    assert [each.payload["outcome"] for each in told("controller.reconciliation-completed")] == [
        "partial"
    ]
    assert [own(name, CONVERGED).status for name in DOMAINS] == ["True", "Unknown", "True"]  # type: ignore[union-attr]
    assert shown("Controller", NAME)["status"]["unhealthyResources"] == 1


# And again


def test_the_loop_repeats_every_reconcile_interval(clock: Clock) -> None:
    """I-63 F-31 F-47"""
    work(clock)
    for _ in range(3):
        clock.advance(minutes=5)
        work(clock)

    assert [each.full for each in cycles(NAME)] == [True] * 4


def test_a_loop_that_was_away_does_not_make_up_for_it(clock: Clock) -> None:
    """I-63"""
    work(clock)
    clock.advance(hours=1)

    assert [len(work(clock)), len(work(clock))] == [1, 0]


def test_a_critical_part_may_be_looked_at_oftener(clock: Clock) -> None:
    """O-67 With a controller of its own."""
    selector = {"matchLabels": {"tier": "critical"}}
    often = made("Controller", "often", {"targetSelector": selector, "reconcileInterval": "1m"})
    declare(clock, domain("payments", tier="critical"), often)
    work(clock)
    clock.advance(minutes=1)
    work(clock)

    assert [len(cycles(name)) for name in ("often", NAME)] == [2, 1]
    assert judgement("payments", NAME) is None


def test_a_loop_without_drift_changes_nothing(clock: Clock) -> None:
    """A-11 D-09 D-47 F-41"""
    declare(clock, controller(hooks={}))
    work(clock)
    before = versions()
    clock.advance(minutes=5)

    [cycle] = work(clock)

    assert (cycle.outcome, cycle.counts["judged"]) == ("converged", 3)
    assert versions() == before


def versions() -> dict[str, int]:
    rows = Resource.objects.exclude(kind="Controller")
    return dict(rows.values_list("name", "resource_version"))


def test_the_phases_are_measured_in_their_order(clock: Clock) -> None:
    """D-45 D-48"""
    miss(clock, "product")

    [cycle] = work(clock)

    assert tuple(cycle.times) == PHASES == ("watch", "diff", "plan", "act", "report")
    assert all(milliseconds >= 0 for milliseconds in cycle.times.values())
