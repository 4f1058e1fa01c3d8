"""Specification, section 6: the events a controller must emit."""

from __future__ import annotations

import pytest

from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.controllers.making import declare, told, while_judging, work
from tests.spec.organisation import NAME, controller, domain, miss, understaff

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("three_domains"), pytest.mark.sqlite]

PREFIX = "controller."
EVENTS = {
    "reconciliation-started": ("audit", {"controllerName", "targetKind", "resourceCount"}),
    "reconciliation-completed": (
        "audit",
        {"controllerName", "durationMs", "driftDetected", "actionsPerformed"},
    ),
    "drift-detected": ("alert", {"controllerName", "targetResource", "driftScore", "threshold"}),
    "action-performed": ("audit", {"controllerName", "actionType", "target", "result"}),
    "error": ("alert", {"controllerName", "phase", "targetResource", "error"}),
}


def fail_for(patch: pytest.MonkeyPatch, name: str) -> None:
    """Let one domain be beyond reading."""

    def look(at: str) -> None:
        if at == name:
            raise RuntimeError("Nobody can read this.")

    while_judging(patch, look)


@pytest.mark.parametrize("event", EVENTS)
def test_the_event_is_emitted_in_its_category_with_its_payload(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    """I-87 I-88 I-89 I-90 I-91 I-100 X-11"""
    category, keys = EVENTS[event]
    declare(clock, controller(actions=controller()["spec"]["actions"] | {"onError": []}))
    work(clock)
    fail_for(monkeypatch, "growth")
    miss(clock, "product")
    miss(clock, "growth")

    [cycle] = work(clock)

    [entry] = told(PREFIX + event, correlation_id=cycle.correlation_id)
    assert entry.category == category
    assert keys <= set(entry.payload)
    assert entry.payload["controllerName"] == NAME
    assert entry.actor == f"controller/{NAME}"


def test_started_is_the_start_of_each_cycle_and_completed_its_end(clock: Clock) -> None:
    """I-87 I-100 D-07"""
    miss(clock, "product")
    work(clock)
    clock.advance(minutes=5)
    stories = [each.correlation_id for each in told(f"{PREFIX}reconciliation-started")]
    [cycle] = work(clock)

    for story in (*stories, cycle.correlation_id):
        names = LedgerEvent.objects.filter(correlation_id=story).order_by("pk")
        events = list(names.values_list("event", flat=True))
        assert events[0] == f"{PREFIX}reconciliation-started"
        assert events[-1] == f"{PREFIX}reconciliation-completed"
        assert events.count(events[0]) == events.count(events[-1]) == 1


def test_started_tells_how_many_resources_are_watched(clock: Clock) -> None:
    """I-91 O-04"""
    declare(clock, domain("support"), domain("sandbox", tier="staging"))
    work(clock)

    [started] = told(f"{PREFIX}reconciliation-started")
    assert (started.payload["resourceCount"], started.payload["targetKind"]) == (4, "Domain")


def test_drift_is_told_at_its_onset_and_when_it_becomes_worse(clock: Clock) -> None:
    """I-88 A-31 Not at each of the cycles it lasts."""
    for missed in (2, 2, 2, 3, 3, 0, 2):
        miss(clock, "product", missed)
        work(clock)
        clock.advance(minutes=5)

    told_scores = [each.payload["driftScore"] for each in told(f"{PREFIX}drift-detected")]
    assert told_scores == [0.2, 0.3, 0.2]


def test_only_what_was_done_is_an_action_performed(clock: Clock) -> None:
    """I-89 What waits for a person was not performed."""
    work(clock)
    understaff(clock)

    [cycle] = work(clock)

    assert [each["result"] for each in cycle.actions] == ["success", "planned"]
    [performed] = told(f"{PREFIX}action-performed")
    assert performed.payload["actionType"] == "alert"


def test_any_error_during_reconciliation_is_told_with_its_phase(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-90 O-05"""
    fail_for(monkeypatch, "analytics")
    work(clock)

    [error] = told(f"{PREFIX}error")
    assert (error.subject, error.payload["phase"]) == ("domain/analytics", "diff")
    assert "Nobody can read this." in error.payload["error"]
