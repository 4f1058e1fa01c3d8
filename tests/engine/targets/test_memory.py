"""Memory: archived, expired or superseded when it should be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine.targets.memory import TARGET, WORTH_KEEPING
from controllers.engine.terms import Difference, Document, Related, Snapshot
from tests.engine.targets.judging import (
    A_MOMENT,
    NOW,
    damaged,
    drift_of,
    example,
    holds_for_any_document,
    observed,
    resource,
    steps_of,
    words,
)
from tests.tiers import examples

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
RETENTION = {"archiveAfter": "30d", "duration": "90d", "autoExpire": True}
ARCHIVED, EXPIRED = CREATED + timedelta(days=30), CREATED + timedelta(days=90)
WORDING = example("Memory", "parcel-delay-wording-v1")
VALUES = [
    *("active", "archived", "expired", "superseded", "30d", "90d"),
    *("2026-11-15T00:00:00Z", "2027-01-01T00:00:00Z", "m", 1.0, 2.0, 2.1),
]


def memory(state: str = "active", retention: Any = RETENTION, **status: Any) -> Snapshot:
    spec = {"scope": "domain", "sourceDomain": "support", "retention": retention}
    found = {"state": state, **status} if state else status
    return Snapshot(resource("Memory", "wording-v1", spec, found, CREATED))


def replaced(snapshot: Snapshot) -> Snapshot:
    newer = resource("Memory", "wording-v2", {"supersedes": "wording-v1"})
    other = resource("Memory", "peak", {"supersedes": "something-else"})
    return snapshot._replace(related=Related({"Memory": (other, newer)}))


@pytest.mark.parametrize(
    ("now", "fitting"),
    [
        (ARCHIVED - A_MOMENT, {"active", "archived", "superseded", "expired"}),
        (ARCHIVED, {"archived", "superseded", "expired"}),
        (EXPIRED - A_MOMENT, {"archived", "superseded", "expired"}),
        (EXPIRED, {"expired"}),
    ],
)
def test_retention_asks_for_a_state_by_age(now: datetime, fitting: set[str]) -> None:
    """I-103"""
    for state in ("active", "archived", "superseded", "expired"):
        word = "True" if state in fitting else "False"
        assert words(TARGET, memory(state), now)["RetentionApplied"] == word


def test_the_clock_is_looked_at_when_retention_asks_for_something() -> None:
    assert TARGET.recheck(memory(), CREATED) == ARCHIVED
    assert TARGET.recheck(memory(), ARCHIVED) == EXPIRED
    assert TARGET.recheck(memory(), EXPIRED) is None


@pytest.mark.parametrize(
    "retention",
    [
        {"duration": "90d"},
        {"duration": "90d", "autoExpire": False},
        {"duration": "permanent", "autoExpire": True},
        {"duration": "9000y", "autoExpire": True},
    ],
)
def test_a_memory_expires_only_when_told_to(retention: Document) -> None:
    kept = memory(retention=retention)
    assert words(TARGET, kept)["RetentionApplied"] == "True"
    assert TARGET.recheck(kept, CREATED) is None


def test_a_memory_of_great_value_does_not_expire_but_is_archived() -> None:
    dear, cheap = (memory("archived", compoundingValue=WORTH_KEEPING + x) for x in (0.01, 0))
    assert words(TARGET, dear)["RetentionApplied"] == "True"
    assert words(TARGET, cheap)["RetentionApplied"] == "False"
    assert "its value of 2.01 keeps it" in observed(TARGET, dear, "RetentionApplied").message
    active = memory(compoundingValue=WORTH_KEEPING + 1)
    assert [each.operation for each in steps_of(TARGET, active)] == ["archive-memory"]


def test_without_a_birthday_the_reported_expiry_counts() -> None:
    target = memory(expiresAt="2026-11-16T00:30:00Z").target._replace(created_at=None)
    assert words(TARGET, Snapshot(target), NOW - A_MOMENT)["RetentionApplied"] == "True"
    assert words(TARGET, Snapshot(target))["RetentionApplied"] == "False"


def test_a_memory_without_retention_or_without_state_is_not_judged_by_age() -> None:
    assert words(TARGET, memory(retention=None)) == {"LifecycleInSync": "True"}
    assert drift_of(TARGET, memory("")).score is None


@pytest.mark.parametrize(
    ("state", "word"),
    [("active", "False"), ("archived", "False"), ("superseded", "True"), ("expired", "True")],
)
def test_a_memory_that_another_replaces_is_superseded(state: str, word: str) -> None:
    found = observed(TARGET, replaced(memory(state)), "LifecycleInSync")
    assert found.status == word
    assert found.message == f"It is {state}; wording-v2 replaces it."
    assert words(TARGET, memory(state))["LifecycleInSync"] == "True"


def test_a_state_left_behind_is_staleness() -> None:
    """I-103"""
    (difference,) = TARGET.fields(memory(), ARCHIVED)
    note = "It is active; to be archived on 2026-01-31 and to expire on 2026-04-01."
    assert difference == Difference("status.state", "archived", "active", "stale", note)
    (newer,) = TARGET.fields(replaced(memory()), CREATED)
    assert newer.desired == "superseded"
    assert TARGET.fields(memory(), CREATED) == ()


@pytest.mark.parametrize(
    ("now", "operation", "risk", "reversible"),
    [
        (ARCHIVED, "archive-memory", "low", True),
        (EXPIRED, "expire-memory", "medium", False),
    ],
)
def test_what_is_due_is_proposed(
    now: datetime, operation: str, risk: str, reversible: bool
) -> None:
    """I-103"""
    (step,) = steps_of(TARGET, memory(), now)
    assert (step.operation, step.kind) == (operation, "change")
    assert (step.risk, step.reversible) == (risk, reversible)
    assert bool(step.rollback) == reversible
    assert "2026-04-01" in step.why


def test_a_replaced_memory_is_marked_until_it_has_to_expire() -> None:
    (marked,) = steps_of(TARGET, replaced(memory()), ARCHIVED)
    assert marked.operation == "supersede-memory"
    assert marked.parameters == {"memory": "wording-v1", "from": "active", "to": "superseded"}
    assert marked.why == "wording-v1: It is active; wording-v2 replaces it."
    (gone,) = steps_of(TARGET, replaced(memory()), EXPIRED)
    assert gone.operation == "expire-memory"


def test_a_memory_in_order_needs_nothing() -> None:
    assert steps_of(TARGET, memory("archived"), ARCHIVED) == ()


@pytest.mark.parametrize(
    "name",
    [
        "checkout-break-of-march",
        "discounts-train-waiting",
        "monday-ticket-peak",
        "parcel-delay-wording-v2",
        "winter-range-context",
    ],
)
def test_the_memories_of_the_example_are_in_order(name: str) -> None:
    assert drift_of(TARGET, Snapshot(example("Memory", name))).score == 0


def test_the_replaced_memory_of_the_example_is_superseded() -> None:
    old, new = (example("Memory", f"parcel-delay-wording-{each}") for each in ("v1", "v2"))
    snapshot = Snapshot(old, Related({"Memory": (new,)}))
    assert words(TARGET, snapshot) == {"RetentionApplied": "True", "LifecycleInSync": "True"}
    forgotten = Snapshot(old._replace(status={"state": "active"}), Related({"Memory": (new,)}))
    said = TARGET.explain(forgotten, drift_of(TARGET, forgotten))
    assert "parcel-delay-wording-v2 replaces it" in said


@settings(max_examples=examples(150), deadline=None)
@given(
    damaged({**WORDING.spec, "supersedes": "x"}, WORDING.status, *VALUES),
    st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_any_memory_is_judged(document: Document, created: datetime | None) -> None:
    spec, status = document["spec"], document["status"]
    target = resource("Memory", "m", spec, status, created)
    other = resource("Memory", "n", spec, status, created)
    holds_for_any_document(TARGET, Snapshot(target, Related({"Memory": (target, other)})))
