"""Reports: what agents may say, what it changes, and what it never touches."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from resources.documents.actor import SYSTEM, Actor
from resources.documents.kind import Document
from resources.store import store
from resources.tables.models import LedgerEvent
from resources.usecases import specs, statuses
from resources.usecases.statuses import Report
from tests.conftest import Clock
from tests.resources.making import (
    ALICE,
    ROBIN,
    apply,
    condition,
    everything,
    live,
    made,
    report,
    shown,
)

pytestmark = pytest.mark.django_db

MANAGED = {"type": "KPIsMet", "status": "True", "managedBy": "controller/watch"}


@pytest.fixture(autouse=True)
def organisation(db: None, clock: Clock) -> None:
    status = {"state": "idle", "conditions": [MANAGED]}
    apply(
        clock.now,
        made("Domain", "harbour"),
        made("Agent", "robin", status=status),
        made("Agent", "wren"),
    )
    clock.advance(minutes=1)


def status_of(name: str = "robin") -> Document:
    """The reported part of a status, conditions left out."""
    found: Document = shown("Agent", name).get("status", {})
    return {key: value for key, value in found.items() if key != "conditions"}


def test_a_report_is_a_merge_patch(clock: Clock) -> None:
    cost = {"tokens": 10, "currency": "EUR"}
    report(clock.now, "robin", {"state": "running", "costConsumed": cost})

    observed = report(clock.now, "robin", {"costConsumed": {"tokens": 12}, "errorRate": 0.1})

    assert observed.verdict == "changed"
    assert status_of() == {
        "state": "running",
        "costConsumed": {"tokens": 12, "currency": "EUR"},
        "errorRate": 0.1,
    }


def test_null_removes(clock: Clock) -> None:
    report(clock.now, "robin", {"state": None, "errorRate": 0.2})

    assert status_of() == {"errorRate": 0.2}


def test_a_whole_status_replaces_what_was_reported(clock: Clock) -> None:
    mine = {"type": "Ready", "status": "True"}
    report(clock.now, "robin", {"errorRate": 0.2, "conditions": [mine]})

    report(clock.now, "robin", {"state": "paused"}, replace=True)

    assert status_of() == {"state": "paused"}
    assert condition("Agent", "robin", "Ready") is None
    assert condition("Agent", "robin", "KPIsMet") is not None
    assert condition("Agent", "robin", "ReferencesResolved") is not None


def test_a_report_never_touches_spec_generation_or_metadata(clock: Clock) -> None:
    """F-54"""
    before = live("Agent", "robin")

    report(clock.now, "robin", {"state": "running"})

    after = live("Agent", "robin")
    assert (after.spec, after.metadata, after.generation, after.declared_version) == (
        before.spec,
        before.metadata,
        before.generation,
        before.declared_version,
    )
    assert after.resource_version == after.observed_version
    assert after.resource_version > before.resource_version
    assert after.revisions.latest("resource_version").spec is None


def test_a_report_is_logged_with_what_it_changed(clock: Clock) -> None:
    """F-51 F-56"""
    report(clock.now, "robin", {"state": "running", "errorRate": 0})

    entry = LedgerEvent.objects.latest("id")
    assert (entry.event, entry.actor, entry.category) == (
        "resource.status-reported",
        "agent/robin",
        "log",
    )
    assert entry.payload["changed"] == ["/state", "/errorRate"]
    assert entry.payload["resourceVersion"] == live("Agent", "robin").resource_version


def test_saying_nothing_new_only_moves_when_it_was_heard(clock: Clock) -> None:
    report(clock.now, "robin", {"state": "running"})
    before = everything()

    observed = report(clock.advance(minutes=5), "robin", {"state": "running"})

    assert observed.verdict == "unchanged"
    assert live("Agent", "robin").reported_at == clock.now
    after = everything()
    for rows in (before["Resource"], after["Resource"]):
        for row in rows:
            del row["reported_at"]
    assert after == before


def test_a_spec_that_is_written_meanwhile_does_not_unhear_a_report(clock: Clock) -> None:
    wish = specs.DesiredDocument(made("Agent", "robin", {"purpose": "Plan more."}))
    drafts, _ = specs.plan([specs.check(wish, set())], clock.now)

    report(clock.advance(minutes=5), "robin", {"state": "idle"})
    store.write(drafts, actor=ALICE, now=clock.now)

    robin = live("Agent", "robin")
    assert robin.spec["purpose"] == "Plan more."
    assert robin.reported_at == clock.now


def test_the_first_empty_report_is_heard_too(clock: Clock) -> None:
    observed = report(clock.now, "wren", {})

    assert observed.verdict == "unchanged"
    assert live("Agent", "wren").reported_at == clock.now


@pytest.mark.parametrize(
    ("status", "pointer", "message"),
    [
        (
            {"conditions": [{"type": "KPIsMet", "status": "False"}]},
            "/status/conditions/0",
            "controller/watch and nobody else",
        ),
        (
            {"conditions": [{"type": "ReferencesResolved", "status": "True"}]},
            "/status/conditions/0",
            "system/references and nobody else",
        ),
        (
            {"conditions": [{"type": "Mine", "status": "True", "managedBy": "controller/me"}]},
            "/status/conditions/0/managedBy",
            "Leave this out",
        ),
        (
            {"conditions": [{"type": "Mine", "status": "Maybe"}]},
            "/status/conditions/0/status",
            "True, False, Unknown",
        ),
        ({"conditions": [{"type": "Mine", "status": True}]}, "/status/conditions/0/status", ""),
        ({"conditions": [{"status": "True"}]}, "/status/conditions/0/type", "required"),
        ({"conditions": [None]}, "/status/conditions/0", "object"),
        ({"conditions": {"type": "Mine"}}, "/status/conditions", "list"),
        ({"state": "asleep"}, "/status/state", "running"),
        ({"errorRate": "high"}, "/status/errorRate", "number"),
        ({"note": "x" * 131_072}, "/status", "128 kB"),
        ([], "/status", "object"),
        ("up", "/status", "object"),
    ],
)
def test_a_report_that_cannot_be_taken_changes_nothing(
    clock: Clock, status: Any, pointer: str, message: str
) -> None:
    before = everything()

    observed = report(clock.now, "robin", status)

    assert observed.verdict == "refused"
    assert [each.pointer for each in observed.problems] == [pointer]
    assert message in observed.problems[0].message
    assert everything() == before


def test_each_report_has_its_own_answer(clock: Clock) -> None:
    reports = [
        Report("Agent", "robin", {"state": "running"}),
        Report("Agent", "nobody", {"state": "running"}),
        Report("Agent", "wren", {"state": "dreaming"}),
        Report("Domain", "harbour", {"health": "healthy"}),
        Report("Agent", "wren", {"state": "idle"}, expected=1),
    ]

    results = statuses.observe(reports, actor=SYSTEM, now=clock.now)

    assert [each.verdict for each in results] == [
        "changed",
        "missing",
        "refused",
        "changed",
        "conflict",
    ]
    assert status_of("robin") == {"state": "running"}


def test_reports_about_one_resource_build_on_each_other(clock: Clock) -> None:
    reports = [
        Report("Agent", "robin", {"state": "running"}),
        Report("Agent", "robin", {"state": "running"}),
        Report("Agent", "robin", {"errorRate": 0.5}),
    ]

    results = statuses.observe(reports, actor=ROBIN, now=clock.now)

    assert [each.verdict for each in results] == ["changed", "unchanged", "changed"]
    assert status_of() == {"state": "running", "errorRate": 0.5}
    entries = LedgerEvent.objects.filter(event="resource.status-reported", subject="agent/robin")
    assert [each.payload["changed"] for each in entries] == [["/state", "/errorRate"]]


@pytest.mark.parametrize(
    ("kind", "name"), [("Agent", "wren"), ("Domain", "harbour"), ("Agent", "nobody")]
)
def test_an_agent_reports_only_for_itself(clock: Clock, kind: str, name: str) -> None:
    """I-82"""
    before = everything()

    told = Report(kind, name, {"state": "running"})
    observed = statuses.observe([told], actor=ROBIN, now=clock.now)[0]

    assert (observed.verdict, observed.resource) == ("forbidden", None)
    assert everything() == before


def test_another_actor_of_the_same_name_is_not_the_agent(clock: Clock) -> None:
    told = Report("Agent", "robin", {"state": "running"})

    observed = statuses.observe([told], actor=Actor("controller", "watch"), now=clock.now)[0]

    assert observed.verdict == "changed"
    assert LedgerEvent.objects.latest("id").actor == "controller/watch"


def test_a_late_report_changes_nothing(clock: Clock) -> None:
    """A-30"""
    report(clock.now, "robin", {"state": "running"}, observed_at=clock.now)
    before = everything()
    late = clock.now - timedelta(seconds=1)

    observed = report(clock.advance(minutes=1), "robin", {"state": "failed"}, observed_at=late)

    assert observed.verdict == "unchanged"
    assert everything() == before


def test_being_heard_late_does_not_hide_what_was_seen_after(clock: Clock) -> None:
    start = clock.now
    report(clock.now, "robin", {"state": "running"}, observed_at=start)
    clock.advance(minutes=5)
    report(clock.now, "robin", {"state": "running"}, observed_at=start + timedelta(minutes=1))

    seen = start + timedelta(minutes=4)
    observed = report(clock.advance(minutes=1), "robin", {"state": "failed"}, observed_at=seen)

    assert observed.verdict == "changed"
    assert live("Agent", "robin").reported_at == seen


@pytest.mark.parametrize(("ahead", "verdict"), [(299, "changed"), (301, "refused")])
def test_a_report_from_the_future_is_refused_beyond_the_clocks_skew(
    clock: Clock, ahead: int, verdict: str
) -> None:
    at = clock.now + timedelta(seconds=ahead)

    observed = report(clock.now, "robin", {"state": "running"}, observed_at=at)

    assert observed.verdict == verdict
    assert [each.pointer for each in observed.problems] == ["/observedAt"] * (ahead > 300)


def test_a_report_for_a_version_that_has_passed_is_a_conflict(clock: Clock) -> None:
    version = live("Agent", "robin").resource_version
    first = report(clock.now, "robin", {"state": "running"}, expected=version)
    second = report(clock.now, "robin", {"state": "failed"}, expected=version)

    assert [first.verdict, second.verdict] == ["changed", "conflict"]
    current = live("Agent", "robin").resource_version
    assert str(current) in second.problems[0].message


def test_a_person_may_report_for_any_resource(clock: Clock) -> None:
    told = Report("Domain", "harbour", {"health": "degraded"})

    observed = statuses.observe([told], actor=ALICE, now=clock.now)[0]

    assert observed.verdict == "changed"
    assert shown("Domain", "harbour")["status"]["health"] == "degraded"
