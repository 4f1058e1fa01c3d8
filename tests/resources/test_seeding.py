"""A status inside a document: taken where nothing was reported, never over what was."""

from __future__ import annotations

import pytest

from tests.conftest import Clock
from tests.resources.making import actions, apply, condition, everything, live, made, report, shown

pytestmark = pytest.mark.django_db

READY = {
    "type": "Ready",
    "status": "True",
    "reason": "Started",
    "lastTransitionTime": "2026-02-25T10:00:00Z",
    "managedBy": "controller/watch",
}
SEEDED = made("Agent", "robin", status={"state": "running", "conditions": [READY]})


def test_a_new_resource_takes_the_status_of_its_document(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), SEEDED)

    status = shown("Agent", "robin")["status"]
    assert status["state"] == "running"
    assert status["conditions"][0] == READY
    assert live("Agent", "robin").revisions.count() == 1


def test_applying_a_seeded_document_again_writes_nothing(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), SEEDED)
    before = everything()

    outcome = apply(clock.advance(days=1), SEEDED)

    assert actions(outcome) == ["unchanged"]
    assert everything() == before


def test_a_resource_that_never_reported_is_seeded_later(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))

    outcome = apply(clock.advance(days=1), SEEDED)

    row = live("Agent", "robin")
    assert actions(outcome) == ["changed"]
    assert (row.status, row.generation) == ({"state": "running"}, 1)


def test_what_was_reported_is_kept(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    report(clock.advance(minutes=1), "robin", {"state": "paused"})
    before = everything()

    outcome = apply(clock.advance(days=1), SEEDED)

    assert (actions(outcome), outcome.results[0].notes) == (
        ["unchanged"],
        ("status kept as reported",),
    )
    assert everything() == before


def test_a_spec_changes_beside_a_status_that_is_kept(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    report(clock.advance(minutes=1), "robin", {"state": "paused"})

    changed = made("Agent", "robin", {"purpose": "Else."}, status={"state": "running"})
    outcome = apply(clock.advance(days=1), changed)

    assert actions(outcome) == ["changed"]
    assert shown("Agent", "robin")["status"]["state"] == "paused"
    assert shown("Agent", "robin")["spec"]["purpose"] == "Else."


def test_conditions_of_the_server_are_not_taken_from_a_document(clock: Clock) -> None:
    lie = {"type": "ReferencesResolved", "status": "True", "managedBy": "system/references"}

    apply(clock.now, made("Agent", "robin", status={"state": "idle", "conditions": [lie]}))

    found = condition("Agent", "robin", "ReferencesResolved")
    assert found is not None
    assert (found.status, found.managed_by) == ("False", "system/references")


def test_a_document_cannot_claim_the_servers_condition_for_itself(clock: Clock) -> None:
    lie = {"type": "ReferencesResolved", "status": "True", "reason": "Trust me"}

    apply(clock.now, made("Agent", "robin", status={"conditions": [lie]}))

    found = condition("Agent", "robin", "ReferencesResolved")
    assert found is not None
    assert (found.status, found.managed_by) == ("False", "system/references")


def test_a_flip_in_the_future_counts_from_now(clock: Clock) -> None:
    ahead = READY | {"lastTransitionTime": "2999-01-01T00:00:00Z"}

    apply(clock.now, made("Agent", "robin", status={"conditions": [ahead]}))

    found = condition("Agent", "robin", "Ready")
    assert found is not None
    assert found.last_transition_time == clock.now
