"""What hooks say about a target, and what that means for a cycle."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controllers.engine.drift import WEIGHTS
from controllers.engine.hooks import (
    MOST_COMBINATIONS,
    allows,
    compile_hook,
    emissions,
    evaluate,
    refreshes,
    run_before,
)
from controllers.engine.terms import (
    Controller,
    Dimension,
    Document,
    Drift,
    Hook,
    HookResult,
    Mode,
    Related,
    Resource,
    Snapshot,
)
from tests.rows import every_row

NOW = datetime(2026, 5, 17, 12, tzinfo=UTC)
DRIFT = Drift(0.25, True, (Dimension("kpi", 0.5), Dimension("health", None)))
CONTROLLER = Controller(
    key=1,
    uid="c-1",
    name="domain-watch",
    generation=4,
    kind="Domain",
    labels={},
    interval=timedelta(minutes=5),
    mode="warn",
    weights=WEIGHTS,
)


def resource(kind: str, name: str = "one", spec: Any = None, status: Any = None) -> Resource:
    labels = {"tier": "core", "a-b": "yes"}
    return Resource(1, "u-1", kind, name, "harbour", 3, 9, labels, spec or {}, status or {})


def snapshot(*related: Resource, spec: Any = None, status: Any = None) -> Snapshot:
    found: dict[str, tuple[Resource, ...]] = {}
    for each in related:
        found[each.kind] = (*found.get(each.kind, ()), each)
    return Snapshot(resource("Domain", "harbour", spec, status), Related(found))


def hook(action: str, kind: str = "Domain", mode: Mode = "warn", policy: str = "") -> Hook:
    return compile_hook({"name": "look", "action": action}, kind, mode, policy)


def ask(action: str, seen: Snapshot) -> HookResult:
    return evaluate(hook(action), seen, CONTROLLER, DRIFT, NOW)


def passed(action: str, **target: Any) -> bool | None:
    return ask(f"check {action}", snapshot(**target)).passed


def after(*actions: str) -> Controller:
    return replace(CONTROLLER, after=tuple(hook(action) for action in actions))


def test_a_check_reads_the_budget_of_the_target() -> None:
    """I-23"""
    seen = snapshot(resource("Budget", status={"utilizationRate": 0.95}))

    result = ask("check budget.status.utilizationRate < 0.9", seen)

    assert (result.passed, result.reason) == (False, "CheckFailed")
    assert result.observed == {"budget.status.utilizationRate": 0.95}


@pytest.mark.parametrize(("violations", "expected"), [(1, False), (0, True), (0.0, True)])
def test_verify_is_check_by_another_name(violations: float, expected: bool) -> None:
    """I-24"""
    seen = snapshot(resource("SecurityPolicy", status={"violations": violations}))

    assert ask("verify securityPolicy.status.violations == 0", seen).passed is expected


def test_a_reference_that_leads_nowhere_is_unknown_and_never_true() -> None:
    """I-25"""
    result = ask("check budget.status.utilizationRate < 0.9 || true", snapshot())

    assert (result.passed, result.reason) == (None, "RefNotFound")
    assert result.observed == {"budget": None}


def test_a_field_that_is_not_there_is_unknown() -> None:
    seen = snapshot(resource("Budget"))

    result = ask("check budget.status.utilizationRate < 0.9", seen)

    assert (result.passed, result.reason) == (None, "FieldMissing")
    assert result.observed == {"budget.status.utilizationRate": None}


@every_row(
    ("action", "expected"),
    [
        ("target.status.gone > 1 && false", False),
        ("false && target.status.gone > 1", False),
        ("target.status.gone > 1 || true", True),
        ("true || target.status.gone > 1", True),
        ("target.status.gone > 1 && true", None),
        ("target.status.gone > 1 || false", None),
        ("!(target.status.gone > 1)", None),
        ("target.status.gone == null", None),
        ("target.status.gone in [1]", None),
    ],
)
def test_unknown_goes_through_and_and_or_as_in_cel(action: str, expected: bool | None) -> None:
    assert passed(action) is expected


@every_row(
    ("action", "status", "expected"),
    [
        ("target.status.a < 1", {"a": 0.5}, True),
        ("target.status.a == 0", {"a": 0}, True),
        ("target.status.a == 0.0", {"a": 0}, True),
        ("target.status.a * 100 < 90", {"a": 0.5}, True),
        ("target.status.a * 100 < 90", {"a": 1}, False),
        ("target.status.a / 2 == 1.5", {"a": 3}, True),
        ("target.status.a + size(target.status.b) == 3", {"a": 1, "b": [1, 2]}, True),
        ("target.status.a > 0", {"a": 2**64}, True),
        ("target.status.a > 0", {"a": 10**400}, None),
        ("target.status.a * target.status.a > 1", {"a": 1e308}, True),
        ("target.status.a in [1, 2]", {"a": 1}, True),
        ("2 in target.status.a", {"a": [1, 2]}, True),
        ("'x' in target.status.a", {"a": {"x": 1}}, True),
        ("target.status.a == true", {"a": True}, True),
        ("target.status.a", {"a": True}, True),
        ("target.status.a", {"a": 1}, None),
        ("target.status.a", {"a": "true"}, None),
        ("target.status.a < 1", {"a": True}, None),
        ("target.status.a < 1", {"a": "0"}, None),
        ("target.status.a < 1", {"a": None}, None),
        ("target.status.a == null", {"a": None}, True),
        ("target.status.a == 0", {"a": "0"}, False),
        ("target.status.a == target.status.b", {"a": [1, {"c": 2}], "b": [1.0, {"c": 2.0}]}, True),
        ("target.status.a == 'x\\n\"\\'\\\\'", {"a": "x\n\"'\\"}, True),
        ("target.status.a == 'é€😀\x7f'", {"a": "é€😀\x7f"}, True),
        ("target.status.a == 'x'", {"a": "x\0y"}, None),
        ("target.status.a == 'x'", {"a": "\ud800"}, None),
        ("target.status.a[1].b == 2", {"a": [{}, {"b": 2}]}, True),
        ("target.status.a[2].b == 2", {"a": [{}, {"b": 2}]}, None),
        ("target.status.a[0] == 'x'", {"a": "x"}, None),
        ("target.status.a['b c'] == 1", {"a": {"b c": 1}}, True),
        ("target.status.a.b == 1", {"a": [1]}, None),
        ("size(target.status.a) == 2", {"a": "é€"}, True),
        ("size(target.status.a) == 1", {"a": {"x": 1}}, True),
        ("size(target.status.a) == 1", {"a": 5}, None),
        ("has(target.status.a)", {"a": None}, True),
        ("has(target.status.b)", {"a": 1}, False),
        ("has(target.status.b.c)", {"a": 1}, None),
        ("has(target.status.a.c)", {"a": [1]}, None),
        ("has(target.status.a) && target.status.a > 1", {}, False),
    ],
)
def test_values_of_documents_are_read_as_json(
    action: str, status: Document, expected: bool | None
) -> None:
    assert passed(action, status=status) is expected


def test_values_that_do_not_fit_say_so() -> None:
    result = ask("check target.status.a < 1", snapshot(status={"a": "many"}))

    assert (result.passed, result.reason) == (None, "NotDecidable")
    assert result.observed == {"target.status.a": "many"}


@every_row(
    ("word", "least", "expected"),
    [
        ("critical", "high", True),
        ("medium", "high", False),
        ("critical", "error", True),
        ("info", "warning", False),
        ("degraded", "degraded", True),
        ("healthy", "degraded", False),
        ("critical", "degraded", True),
        ("terrible", "low", None),
        (3, "low", None),
    ],
)
def test_levels_are_ordered_by_meaning(word: Any, least: str, expected: bool | None) -> None:
    action = f"level(target.spec.risk) >= level('{least}')"

    assert passed(action, spec={"risk": word}) is expected


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("2026-05-17T11:59:59Z", True),
        ("2026-05-17T13:30:00+02:00", True),
        ("2026-05-17T12:00:00.5Z", False),
        ("2026-05-17", True),
        ("2026-05-18", False),
        ("soon", None),
        (20260517, None),
    ],
)
def test_times_are_compared_with_now_and_not_as_text(when: Any, expected: bool | None) -> None:
    assert passed("target.spec.reviewDate <= now", spec={"reviewDate": when}) is expected


@every_row(
    "action",
    [
        "target.metadata.name == 'harbour' && self.metadata.generation == 3",
        "domain.metadata.name == 'harbour'",
        "domain.metadata.labels.tier == 'core' && domain.metadata.labels['a-b'] == 'yes'",
        "controller.metadata.name == 'domain-watch' && controller.metadata.generation == 4",
        "controller.spec.enforcementMode == 'warn' && controller.spec.driftThreshold == 0.15",
        "controller.spec.targetKind == 'Domain'",
        "cycle.score == 0.25 && cycle.dimensions.kpi == 0.5",
        "cycle.dimensions.health == null",
        "now > target.spec.start",
    ],
)
def test_paths_start_at_the_target_the_controller_the_cycle_and_now(action: str) -> None:
    assert passed(action, spec={"start": "2026-01-01"}) is True


def test_the_kinds_a_check_reads_are_known_before_it_runs() -> None:
    action = (
        "check budget.status.a == domain.status.a && agent.spec.b == target.spec.b && now > now"
    )

    assert hook(action).reads == {"Budget", "Agent"}
    assert hook(action, "Agent").reads == {"Budget", "Domain"}


def test_a_check_must_hold_for_every_related_resource() -> None:
    rates = {"first": 0.1, "second": 0.95, "third": 0.2}
    budgets = [resource("Budget", name, status={"rate": rate}) for name, rate in rates.items()]

    failed = ask("check budget.status.rate < 0.9", snapshot(*budgets))
    unknown = ask("check budget.status.rate < 0.99", snapshot(*budgets, resource("Budget", "new")))
    held = ask("check budget.status.rate < 0.99", snapshot(*budgets))

    assert failed.passed is False
    assert failed.observed == {"budget": "budget/second", "budget.status.rate": 0.95}
    assert unknown.passed is None
    assert unknown.observed == {"budget": "budget/new", "budget.status.rate": None}
    assert held.passed is True


def test_a_failure_weighs_more_than_something_unknown() -> None:
    seen = snapshot(resource("Budget", "new"), resource("Budget", "old", status={"rate": 1}))

    assert ask("check budget.status.rate < 0.9", seen).passed is False


def test_several_kinds_are_checked_in_every_combination() -> None:
    budgets = [resource("Budget", f"b{n}", status={"limit": n}) for n in (5, 6)]
    agents = [resource("Agent", f"a{n}", status={"spent": n}) for n in (4, 5)]

    result = ask("check agent.status.spent < budget.status.limit", snapshot(*budgets, *agents))

    assert result.passed is False
    assert result.observed["agent"] == "agent/a5"
    assert result.observed["budget"] == "budget/b5"


def test_too_many_combinations_are_not_decided() -> None:
    side = int(MOST_COMBINATIONS**0.5) + 1
    many = [resource(kind, f"n{n}") for kind in ("Agent", "Budget") for n in range(side)]

    result = ask("check agent.status.a == budget.status.a", snapshot(*many))

    assert (result.passed, result.reason) == (None, "TooManyResources")


def test_deep_and_wide_values_are_bounded_work() -> None:
    deep: Any = 1
    for _ in range(250):
        deep = [deep]
    status = {"deep": deep, "wide": list(range(20_000))}
    started = time.process_time()

    assert passed("target.status.deep == target.status.deep", status=status) is True
    assert passed("19999 in target.status.wide", status=status) is True
    assert passed("size(target.status.wide) == 20000", status=status) is True
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("mode", "own", "default", "expected"),
    [
        ("warn", "", "", False),
        ("observe", "", "", False),
        ("warn", "failOpen", "", True),
        ("warn", "", "failOpen", True),
        ("warn", "failClosed", "failOpen", False),
        ("enforce", "failOpen", "failOpen", False),
    ],
)
def test_a_hook_fails_closed_unless_told_and_in_enforce_mode_always(
    mode: Mode, own: str, default: str, expected: bool
) -> None:
    """I-50 I-70"""
    said = [{key: own} if own else {} for key in ("onFailure", "failurePolicy")]
    for extra in said:
        compiled = compile_hook(
            {"name": "a", "action": "check true", **extra}, "Domain", mode, default
        )

        assert compiled.fail_open is expected


@pytest.mark.parametrize(
    ("policy", "status", "expected"),
    [
        ("failClosed", {"a": 1}, True),
        ("failClosed", {"a": 2}, False),
        ("failClosed", {}, False),
        ("failOpen", {"a": 2}, True),
        ("failOpen", {}, True),
    ],
)
def test_a_plan_follows_when_hooks_pass_or_may_fail(
    policy: str, status: Document, expected: bool
) -> None:
    """I-70"""
    before = (hook("check true"), hook("check target.status.a == 1", policy=policy))
    controller = replace(CONTROLLER, before=before)

    results = run_before(controller, snapshot(status=status), DRIFT, NOW)

    assert [each.name for each in results] == ["look", "look"]
    assert allows(results, controller.before) is expected


def test_without_hooks_a_plan_follows() -> None:
    assert allows(run_before(CONTROLLER, snapshot(), DRIFT, NOW), ()) is True


def test_a_verb_nobody_knows_is_skipped() -> None:
    compiled = hook("ponder target.status.a")

    result = evaluate(compiled, snapshot(), CONTROLLER, DRIFT, NOW)

    assert compiled.fault == ""
    assert (result.passed, result.reason) == (True, "Skipped")
    assert allows([result], [compiled]) is True


@pytest.mark.parametrize(
    "action", ["check target.status.a <", "check payload.a == 1", "check 1", "check " + "(" * 900]
)
def test_a_hook_that_cannot_be_used_never_passes(action: str) -> None:
    """A-06"""
    compiled = hook(action)

    result = evaluate(compiled, snapshot(), CONTROLLER, DRIFT, NOW)

    assert compiled.fault
    assert (result.passed, result.reason) == (None, "InvalidExpression")
    assert allows([result], [compiled]) is False


@pytest.mark.parametrize(
    "document", [{}, {"name": 5, "action": 7}, {"event": None}, {"action": ""}]
)
def test_a_hook_of_any_shape_is_compiled(document: Document) -> None:
    compiled = compile_hook(document, "Domain", "warn", "")

    assert (compiled.check, compiled.refresh, compiled.event) == (None, (), "")


def test_a_refresh_names_fields_below_the_status_of_the_target() -> None:
    """I-27"""
    controller = after(
        "refresh domain.status.lastEvaluation",
        "refresh target.status.looks.lastAt",
        "refresh self.status.lastEvaluation",
    )

    assert refreshes(controller) == (("lastEvaluation",), ("looks", "lastAt"))


@every_row(
    ("kind", "field", "expected"),
    [
        ("Domain", "lastEvaluation", True),
        ("Domain", "somethingOfOurs", True),
        ("Domain", "health", False),
        ("Domain", "health.at", False),
        ("Domain", "kpis", False),
        ("Domain", "conditions", False),
        ("Budget", "consumed.at", True),
        ("Budget", "consumed.tokens", False),
        ("Nothing", "at", False),
    ],
)
def test_only_a_field_that_can_hold_a_time_is_refreshed(
    kind: str, field: str, expected: bool
) -> None:
    compiled = hook(f"refresh target.status.{field}", kind)

    assert bool(compiled.refresh) is expected
    assert bool(compiled.fault) is not expected


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (["controller.reconciliation-completed"], []),
        (["system.controller_reconciliation_completed", "a.b"], ["a.b"]),
        (["controller.reconciliation_completed"], []),
        (["a.b-c", "a.b-c", "d.e"], ["a.b-c", "d.e"]),
        (["a.b-c", "a.b_c"], ["a.b-c"]),
        (["controller.reconciliation-started"], ["controller.reconciliation-started"]),
    ],
)
def test_an_event_is_emitted_once_a_cycle_by_either_spelling(
    events: Sequence[str], expected: Sequence[str]
) -> None:
    """I-26"""
    by_action = after(*(f"emit {event}" for event in events))
    by_key = [
        compile_hook({"name": "a", "event": event}, "Domain", "warn", "") for event in events
    ]

    assert emissions(by_action) == tuple(expected)
    assert emissions(replace(CONTROLLER, after=tuple(by_key))) == tuple(expected)
