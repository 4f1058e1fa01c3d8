"""Names are resolved late: a dangling one is a condition, and it heals by itself."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controllers.worker.housekeeping import recheck_references
from resources.tables.models import Condition, LedgerEvent, Reference, Resource
from resources.usecases import deletion
from tests.conftest import Clock
from tests.resources.making import ALICE, actions, apply, condition, live, made, owned

pytestmark = pytest.mark.django_db

TYPE = "ReferencesResolved"


def resolved(kind: str, name: str) -> tuple[str, str, str] | None:
    found = condition(kind, name, TYPE)
    return (found.status, found.reason, found.message) if found else None


def test_a_dangling_reference_is_a_condition_that_names_it(clock: Clock) -> None:
    """I-101"""
    outcome = apply(clock.now, made("Domain", "quay", {"agents": ["wren"], "budgetRef": "q4"}))

    assert actions(outcome) == ["created"]
    assert resolved("Domain", "quay") == (
        "False",
        "NotFound",
        "Missing: agent/wren, budget/q4.",
    )
    found = condition("Domain", "quay", TYPE)
    assert found is not None
    assert found.managed_by == "system/references"


def test_a_resource_without_references_has_no_such_condition(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Controller", "watch"))

    assert not Condition.objects.exists()


def test_the_condition_goes_with_the_last_reference(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour", {"agents": ["robin"]}))

    apply(clock.now, made("Domain", "harbour"))

    assert not Condition.objects.exists()
    assert not Reference.objects.exists()


def test_it_heals_when_the_target_appears_and_breaks_when_it_goes(clock: Clock) -> None:
    apply(clock.now, made("Agent", "robin"))
    missing = resolved("Agent", "robin")
    first = live("Agent", "robin")

    apply(clock.advance(minutes=1), made("Domain", "harbour"))
    healed, healed_row = resolved("Agent", "robin"), live("Agent", "robin")
    deletion.delete("Domain", "harbour", actor=ALICE, now=clock.advance(minutes=1))
    broken = resolved("Agent", "robin")

    assert missing == broken == ("False", "NotFound", "Missing: domain/harbour.")
    assert healed == ("True", "AllFound", "")
    assert healed_row.resource_version > first.resource_version
    assert healed_row.generation == first.generation
    found = condition("Agent", "robin", TYPE)
    assert found is not None
    assert found.last_transition_time == clock.now


def test_half_healed_is_still_broken_and_keeps_its_time(clock: Clock) -> None:
    apply(clock.now, made("Domain", "quay", {"agents": ["wren", "robin"]}))
    start = clock.now

    apply(clock.advance(minutes=1), made("Agent", "wren"))

    found = condition("Domain", "quay", TYPE)
    assert found is not None
    assert (found.status, found.message) == ("False", "Missing: agent/robin.")
    assert found.last_transition_time == start


def test_renaming_a_reference_judges_again(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))

    apply(clock.now, made("Agent", "robin", {"domain": "hill"}))

    assert resolved("Agent", "robin") == ("False", "NotFound", "Missing: domain/hill.")


def test_what_is_only_informative_is_not_missed(clock: Clock) -> None:
    spec = {"governance": {"escalatesTo": "somebody"}}

    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin", spec))

    assert resolved("Agent", "robin") == ("True", "AllFound", "")


def test_a_missing_owner_is_a_dangling_reference(clock: Clock) -> None:
    """F-40 X-17"""
    apply(clock.now, owned("Domain", "quay", ("Domain", "harbour", "cascade")))

    assert resolved("Domain", "quay") == ("False", "NotFound", "Missing: domain/harbour.")


def test_another_kind_of_the_same_name_does_not_count(clock: Clock) -> None:
    apply(clock.now, made("Agent", "robin"), made("Controller", "harbour"))

    assert resolved("Agent", "robin") == ("False", "NotFound", "Missing: domain/harbour.")


def test_healing_is_one_write_with_what_heals(clock: Clock) -> None:
    apply(clock.now, made("Agent", "robin"), made("Agent", "wren"))

    apply(clock.now, made("Domain", "harbour"))

    stories = LedgerEvent.objects.filter(subject="domain/harbour").values("correlation_id")
    told = LedgerEvent.objects.filter(correlation_id__in=stories).values_list("subject", "event")
    assert set(told) == {
        ("domain/harbour", "resource.created"),
        ("agent/robin", "resource.status-reported"),
        ("agent/wren", "resource.status-reported"),
    }


@pytest.mark.parametrize("truth", ["missing", "there"])
def test_the_chore_corrects_what_two_writers_could_not_see(clock: Clock, truth: str) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    if truth == "missing":
        Resource.objects.filter(kind="Domain").update(deleted_at=clock.now)
    else:
        wrong = Condition.objects.filter(resource=live("Agent", "robin"), type=TYPE)
        wrong.update(status="False", reason="NotFound", message="Missing: domain/harbour.")
    version = live("Agent", "robin").resource_version

    corrected = recheck_references(clock.advance(minutes=1))
    again = recheck_references(clock.advance(minutes=1))

    assert (corrected, again) == (1, 0)
    assert resolved("Agent", "robin") == (
        ("False", "NotFound", "Missing: domain/harbour.")
        if truth == "missing"
        else ("True", "AllFound", "")
    )
    assert live("Agent", "robin").resource_version > version
    assert LedgerEvent.objects.latest("id").actor == "system/ioa"


def test_the_chore_finds_a_condition_that_was_lost(clock: Clock) -> None:
    apply(clock.now, made("Agent", "robin"))
    Condition.objects.all().delete()

    assert recheck_references(clock.now) == 1
    assert resolved("Agent", "robin") == ("False", "NotFound", "Missing: domain/harbour.")


def test_the_chore_leaves_the_dead_alone(clock: Clock) -> None:
    apply(clock.now, made("Agent", "robin"))
    deletion.delete("Agent", "robin", actor=ALICE, now=clock.now)

    assert recheck_references(clock.now) == 0


def count_queries(clock: Clock, first: int, many: int) -> int:
    documents = [made("Agent", f"agent-{n}") for n in range(first, first + many)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        apply(clock.now, *documents)
    return len(queries)


def test_many_resources_take_as_many_queries_as_few(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"))

    few, many = count_queries(clock, 0, 2), count_queries(clock, 100, 50)
    with CaptureQueriesContext(connection) as healing:
        deletion.delete("Domain", "harbour", actor=ALICE, now=clock.now)

    assert many == few
    assert len(healing) <= 30
