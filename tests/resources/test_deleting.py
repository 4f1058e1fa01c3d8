"""Deleting: tombstones, and what owners decide for what they own."""

from __future__ import annotations

import pytest

from resources.tables.models import LedgerEvent, Resource, ResourceRevision
from resources.usecases import deletion
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import (
    ALICE,
    actions,
    apply,
    condition,
    everything,
    live,
    made,
    owned,
    report,
)

pytestmark = pytest.mark.django_db


def delete(clock: Clock, kind: str, name: str, expected: int | None = None) -> set[str]:
    deleted = deletion.delete(kind, name, actor=ALICE, now=clock.now, expected=expected)
    return {each.name for each in deleted}


def names() -> set[str]:
    return set(Resource.objects.filter(deleted_at=None).values_list("name", flat=True))


def test_a_tombstone_remains(clock: Clock) -> None:
    """O-59"""
    apply(clock.now, made("Domain", "harbour", metadata={"labels": {"a": "b"}}))
    version = live("Domain", "harbour").resource_version

    assert delete(clock, "Domain", "harbour") == {"harbour"}

    row = Resource.objects.get()
    assert (row.deleted_at, row.spec) == (clock.now, {"purpose": "Bring ships in."})
    assert row.resource_version > version
    assert not row.label_index.exists()
    last = row.revisions.latest("resource_version")
    assert (last.change, last.resource_version) == ("DELETED", row.resource_version)
    assert LedgerEvent.objects.latest("id").event == "resource.deleted"


def test_the_name_is_free_again(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"))
    old = live("Domain", "harbour")
    delete(clock, "Domain", "harbour")

    outcome = apply(clock.advance(minutes=1), made("Domain", "harbour"))

    new = live("Domain", "harbour")
    assert actions(outcome) == ["created"]
    assert new.uid != old.uid
    assert new.generation == 1
    assert Resource.objects.count() == 2


@pytest.mark.parametrize("name", ["nobody", "", "HARBOUR"])
def test_what_is_not_there_cannot_be_deleted(clock: Clock, name: str) -> None:
    apply(clock.now, made("Domain", "harbour"))

    with refuses("not-found"):
        delete(clock, "Domain", name)


def test_what_is_dead_cannot_be_deleted_again(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"))
    delete(clock, "Domain", "harbour")
    before = everything()

    with refuses("not-found"):
        delete(clock, "Domain", "harbour")
    assert everything() == before


def test_a_version_that_has_passed_is_a_conflict(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"))
    version = live("Domain", "harbour").resource_version

    with refuses("conflict") as caught:
        delete(clock, "Domain", "harbour", expected=version - 1)

    assert caught.value.facts == {"currentVersion": str(version)}
    assert delete(clock, "Domain", "harbour", expected=version) == {"harbour"}


def test_cascade_goes_down_every_level(clock: Clock) -> None:
    """F-38 F-39"""
    apply(
        clock.now,
        made("Domain", "a"),
        owned("Domain", "b", ("Domain", "a", "cascade")),
        owned("Agent", "c", ("Domain", "b", "cascade"), spec={"domain": "x"}),
        owned("Agent", "d", ("Agent", "c", "cascade"), spec={"domain": "x"}),
        made("Domain", "x"),
    )

    assert delete(clock, "Domain", "a") == {"a", "b", "c", "d"}

    assert names() == {"x"}
    assert ResourceRevision.objects.filter(change="DELETED").count() == 4


def test_an_orphan_is_released_with_a_revision(clock: Clock) -> None:
    """F-39"""
    apply(
        clock.now,
        made("Domain", "a"),
        made("Domain", "x"),
        owned("Domain", "b", ("Domain", "a", "orphan"), ("Domain", "x", "cascade")),
    )
    before = live("Domain", "b")

    assert delete(clock, "Domain", "a") == {"a"}

    row = live("Domain", "b")
    assert row.metadata == {
        "ownerReferences": [{"kind": "Domain", "name": "x", "deletePolicy": "cascade"}]
    }
    assert row.generation == before.generation
    assert row.resource_version > before.resource_version
    assert row.revisions.latest("resource_version").metadata == row.metadata
    entry = LedgerEvent.objects.get(event="resource.released")
    assert (entry.subject, entry.payload["owner"]) == ("domain/b", "domain/a")
    found = condition("Domain", "b", "ReferencesResolved")
    assert found is not None
    assert found.status == "True"


def test_the_last_owner_leaves_no_trace_of_owning(clock: Clock) -> None:
    apply(clock.now, made("Domain", "a"), owned("Domain", "b", ("Domain", "a", "orphan")))

    delete(clock, "Domain", "a")

    assert live("Domain", "b").metadata == {}
    assert condition("Domain", "b", "ReferencesResolved") is None
    assert delete(clock, "Domain", "b") == {"b"}


def test_block_lists_what_stands_in_the_way(clock: Clock) -> None:
    """F-39"""
    apply(
        clock.now,
        made("Domain", "a"),
        owned("Domain", "c", ("Domain", "a", "block")),
        owned("Agent", "b", ("Domain", "a", "block"), spec={"domain": "a"}),
        owned("Domain", "d", ("Domain", "a", "cascade")),
    )
    before = everything()

    with refuses("blocked") as caught:
        delete(clock, "Domain", "a")

    assert caught.value.facts["dependents"] == ["agent/b", "domain/c"]
    assert everything() == before


def test_an_owner_without_a_policy_blocks(clock: Clock) -> None:
    child = made("Domain", "b", metadata={"ownerReferences": [{"kind": "Domain", "name": "a"}]})
    apply(clock.now, made("Domain", "a"), child)

    with refuses("blocked"):
        delete(clock, "Domain", "a")


def test_block_deep_below_stops_the_whole_cascade(clock: Clock) -> None:
    apply(
        clock.now,
        made("Domain", "a"),
        owned("Domain", "b", ("Domain", "a", "cascade")),
        owned("Domain", "c", ("Domain", "b", "block")),
    )

    with refuses("blocked", match="domain/c"):
        delete(clock, "Domain", "a")
    assert names() == {"a", "b", "c"}


def test_what_goes_itself_does_not_block(clock: Clock) -> None:
    apply(
        clock.now,
        made("Domain", "a"),
        owned("Domain", "b", ("Domain", "a", "cascade")),
        owned("Domain", "c", ("Domain", "a", "cascade"), ("Domain", "b", "block")),
    )

    assert delete(clock, "Domain", "a") == {"a", "b", "c"}


def test_released_by_one_owner_and_taken_by_another_it_goes(clock: Clock) -> None:
    apply(
        clock.now,
        made("Domain", "a"),
        owned("Domain", "b", ("Domain", "a", "cascade")),
        owned("Domain", "c", ("Domain", "a", "orphan"), ("Domain", "b", "cascade")),
    )

    assert delete(clock, "Domain", "a") == {"a", "b", "c"}
    assert not LedgerEvent.objects.filter(event="resource.released").exists()


def test_released_by_two_owners_at_once_it_stays_alone(clock: Clock) -> None:
    apply(
        clock.now,
        made("Domain", "a"),
        owned("Domain", "b", ("Domain", "a", "cascade")),
        owned("Domain", "c", ("Domain", "a", "orphan"), ("Domain", "b", "orphan")),
    )

    assert delete(clock, "Domain", "a") == {"a", "b"}
    assert live("Domain", "c").metadata == {}


@pytest.mark.parametrize("policy", ["cascade", "orphan", "block"])
def test_circles_end(clock: Clock, policy: str) -> None:
    apply(
        clock.now,
        owned("Domain", "a", ("Domain", "c", policy)),
        owned("Domain", "b", ("Domain", "a", "cascade")),
        owned("Domain", "c", ("Domain", "b", "cascade")),
        owned("Domain", "self", ("Domain", "self", policy)),
    )

    assert delete(clock, "Domain", "a") == {"a", "b", "c"}
    assert delete(clock, "Domain", "self") == {"self"}


def test_the_conditions_of_a_deleted_controller_become_unknown(clock: Clock) -> None:
    """X-27"""
    theirs = {"type": "KPIsMet", "status": "True", "managedBy": "controller/watch"}
    other = {"type": "BudgetHealthy", "status": "True", "managedBy": "controller/other"}
    apply(
        clock.now,
        made("Controller", "watch"),
        made("Domain", "harbour", status={"conditions": [theirs, other]}),
        made("Agent", "robin", status={"conditions": [theirs]}),
    )
    report(clock.now, "robin", {"conditions": [{"type": "Ready", "status": "True"}]})
    clock.advance(hours=1)

    delete(clock, "Controller", "watch")

    for kind, name in (("Domain", "harbour"), ("Agent", "robin")):
        found = condition(kind, name, "KPIsMet")
        assert found is not None
        assert (found.status, found.reason) == ("Unknown", "ControllerDeleted")
        assert (found.managed_by, found.last_transition_time) == ("controller/watch", clock.now)
    for kind, name, type_ in (("Domain", "harbour", "BudgetHealthy"), ("Agent", "robin", "Ready")):
        kept = condition(kind, name, type_)
        assert kept is not None
        assert kept.status == "True"
