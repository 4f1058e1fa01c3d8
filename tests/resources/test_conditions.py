"""Reported conditions: merged by type, dated by their flips, and never somebody else's."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.resources.making import apply, condition, everything, made, report, shown

pytestmark = pytest.mark.django_db

MANAGED = {"type": "KPIsMet", "status": "True", "managedBy": "controller/watch"}


@pytest.fixture(autouse=True)
def organisation(db: None, clock: Clock) -> None:
    robin = made("Agent", "robin", status={"state": "idle", "conditions": [MANAGED]})
    apply(clock.now, made("Domain", "harbour"), robin)
    clock.advance(minutes=1)


def test_conditions_are_merged_by_type_and_flips_move_their_time(clock: Clock) -> None:
    """I-34 F-15 F-57"""
    ready = {"type": "Ready", "status": "True", "reason": "Up"}
    report(clock.now, "robin", {"conditions": [ready]})
    flipped = clock.now

    times = []
    for status, reason in (("True", "Still up"), ("False", "Down"), ("False", "Still down")):
        item = {"type": "Ready", "status": status, "reason": reason}
        report(clock.advance(minutes=1), "robin", {"conditions": [item]})
        found = condition("Agent", "robin", "Ready")
        assert found is not None
        assert (found.status, found.reason) == (status, reason)
        times.append(found.last_transition_time)

    assert times == [flipped, flipped + timedelta(minutes=2), flipped + timedelta(minutes=2)]
    assert condition("Agent", "robin", "KPIsMet") is not None


def test_a_reporter_dates_only_a_flip_and_never_ahead(clock: Clock) -> None:
    def say(status: str, at: str) -> Any:
        item = {"type": "Ready", "status": status, "lastTransitionTime": at}
        report(clock.now, "robin", {"conditions": [item]})
        found = condition("Agent", "robin", "Ready")
        assert found is not None
        return found.last_transition_time.isoformat()

    assert say("True", "2026-11-16T09:00:00Z") == "2026-11-16T09:00:00+00:00"
    assert say("True", "2026-11-16T09:30:00Z") == "2026-11-16T09:00:00+00:00"
    assert say("False", "2999-01-01T00:00:00Z") == clock.now.isoformat()


def test_null_conditions_drop_those_nobody_manages(clock: Clock) -> None:
    report(clock.now, "robin", {"conditions": [{"type": "Ready", "status": "True"}]})

    report(clock.now, "robin", {"conditions": None})

    assert condition("Agent", "robin", "Ready") is None
    assert condition("Agent", "robin", "KPIsMet") is not None


def test_null_inside_a_condition_is_an_absence(clock: Clock) -> None:
    item = {
        "type": "Ready",
        "status": "True",
        "reason": None,
        "message": None,
        "lastTransitionTime": None,
        "managedBy": None,
        "observedGeneration": None,
    }

    observed = report(clock.now, "robin", {"conditions": [item]})

    assert observed.verdict == "changed"
    assert shown("Agent", "robin")["status"]["conditions"][1] == {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": "2026-11-16T10:01:00Z",
    }


def test_unknown_fields_of_a_condition_are_kept(clock: Clock) -> None:
    item = {"type": "Ready", "status": "True", "observedGeneration": 1, "probe": {"ms": 3}}

    report(clock.now, "robin", {"conditions": [item]})

    found = shown("Agent", "robin")["status"]["conditions"][1]
    assert (found["observedGeneration"], found["probe"]) == (1, {"ms": 3})


def test_one_refused_condition_refuses_the_whole_report(clock: Clock) -> None:
    """I-33"""
    before = everything()
    items = [{"type": "Ready", "status": "True"}, {"type": "KPIsMet", "status": "False"}]

    observed = report(clock.now, "robin", {"state": "running", "conditions": items})

    assert observed.verdict == "refused"
    assert everything() == before
