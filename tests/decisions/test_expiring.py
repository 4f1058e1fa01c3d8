"""What time alone does to proposals, and that nothing is safe only because it was swept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from controllers.decisions import expiry, proposals
from controllers.decisions.creation import proposal_end
from controllers.engine.proposal_lifecycle import STATES
from controllers.models import Alert, Proposal, Step
from resources.tables.models import LedgerEvent
from resources.usecases import deletion
from tests.conftest import Clock
from tests.decisions.making import agent, controller, proposal, seen
from tests.problems import refuses
from tests.resources.making import ALICE

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def made(clock: Clock, **given: Any) -> Proposal:
    """Make a proposal of a controller about an agent."""
    return proposal(clock, agent(clock), controller(clock), **given)


def state(found: Proposal) -> str:
    return Proposal.objects.get(pk=found.pk).state


def last(found: Proposal) -> LedgerEvent:
    """Return what the ledger says last about a proposal."""
    return LedgerEvent.objects.filter(stream=found.stream).latest("seq")


@pytest.mark.parametrize("waiting", ["pending", "recommended", "changes_requested"])
def test_what_nobody_decides_in_time_expires(clock: Clock, waiting: str) -> None:
    """O-62 Silence never approves."""
    found = made(clock, state=waiting, expires_at=clock.now + HOUR)
    expiry.sweep(clock.advance(minutes=59))
    assert state(found) == waiting
    swept = expiry.sweep(clock.advance(minutes=1))

    assert (state(found), swept.expired) == ("expired", 1)
    assert last(found).actor == "system/ioa"
    assert expiry.sweep(clock.now) == expiry.Swept(0, 0, 0, 0, 0, 0)


def test_a_sweep_moves_only_what_waits(clock: Clock) -> None:
    before = {}
    for number, each in enumerate(sorted(set(STATES) - {"pending", "recommended"})):
        target = agent(clock, f"scribe-{number}")
        found = proposal(clock, target, state=each, expires_at=clock.now)
        before[found.pk] = each
    expiry.sweep(clock.advance(hours=1))

    after = dict(Proposal.objects.values_list("pk", "state"))
    moved = {before[key]: now for key, now in after.items() if before[key] != now}
    assert moved == {"changes_requested": "expired"}


def test_without_any_sweep_a_late_answer_is_too_late(clock: Clock) -> None:
    """The sweeper was stopped for an hour: the deadline holds all the same."""
    found = made(clock, expires_at=clock.now + HOUR)
    shown = seen(found)
    clock.advance(hours=2)

    with refuses("expired"), transaction.atomic():
        proposals.take(found.pk, "approve", clock.now, seen=shown)
    assert state(found) == "pending"


def test_somebody_who_extends_first_wins_against_the_clock(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I4: the statement that expires asks again for the time."""
    found = made(clock, expires_at=clock.now)
    usual = transaction.atomic

    def atomic(*given: Any) -> Any:
        Proposal.objects.filter(pk=found.pk).update(expires_at=clock.now + HOUR)
        return usual(*given)

    monkeypatch.setattr(transaction, "atomic", atomic)
    swept = proposal_end.expire(proposal_end.overdue(clock.now), clock.now)
    monkeypatch.undo()

    assert (state(found), swept) == ("pending", 0)


def test_what_was_approved_and_did_not_begin_in_time_lapses(clock: Clock) -> None:
    found = made(clock, state="approved", execute_before=clock.now + HOUR, run_at=clock.now)
    expiry.sweep(clock.advance(minutes=59))
    assert state(found) == "approved"
    expiry.sweep(clock.advance(minutes=1))

    assert state(found) == "lapsed"
    assert last(found).event == "proposal.lapsed"


def test_what_has_begun_does_not_lapse(clock: Clock) -> None:
    found = made(clock, state="approved", execute_before=clock.now)
    Step.objects.create(
        proposal=found,
        sequence=1,
        operation="throttle",
        executor="webhook",
        idempotent=True,
        state="dispatched",
        key="one",
    )
    expiry.sweep(clock.advance(hours=1))

    assert state(found) == "approved"


def test_what_was_put_aside_is_shown_again_after_its_rest(clock: Clock) -> None:
    found = made(clock, quiet_until=clock.now + HOUR, quiet_above=0.4)
    expiry.sweep(clock.advance(minutes=59))
    assert Proposal.objects.get().quiet_until is not None
    expiry.sweep(clock.advance(minutes=1))

    after = Proposal.objects.get()
    assert (after.quiet_until, after.quiet_above, after.state) == (None, None, "pending")
    assert last(found).event == "proposal.woken"


def test_a_no_keeps_its_date(clock: Clock) -> None:
    """What people accepted until a date is not woken: it is closed."""
    found = made(clock, state="rejected", quiet_until=clock.now)
    expiry.sweep(clock.advance(hours=1))

    assert Proposal.objects.get(pk=found.pk).quiet_until is not None


# Broken glass


def forced(clock: Clock, **given: Any) -> Proposal:
    """Make a proposal that somebody approved alone, and that was carried out."""
    done = {
        "state": "succeeded",
        "answer": "break_glass",
        "decided_by": "person/maya",
        "review_by": clock.now + HOUR,
        "undo_until": clock.now + timedelta(hours=24),
    }
    return made(clock, **done | given)


def test_what_nobody_reviewed_is_undone_and_rings(clock: Clock) -> None:
    found = forced(clock)
    expiry.sweep(clock.advance(minutes=59))
    assert state(found) == "succeeded"
    expiry.sweep(clock.advance(minutes=1))

    after = Proposal.objects.get(pk=found.pk)
    assert (after.state, after.undoing, after.review_by) == ("approved", True, None)
    assert after.run_at == clock.now
    alert = Alert.objects.get()
    assert (alert.severity, alert.resource) == ("critical", found.resource)
    assert "person/maya" in alert.message


@pytest.mark.parametrize(
    "given", [{"reversible": False}, {"undo_until": None}], ids=["irreversible", "nothing done"]
)
def test_what_cannot_be_undone_only_rings_once(clock: Clock, given: dict[str, Any]) -> None:
    found = forced(clock, **given)
    expiry.sweep(clock.advance(hours=1))
    expiry.sweep(clock.advance(hours=1))

    assert (state(found), Alert.objects.count()) == ("succeeded", 1)
    assert "cannot be undone" in Alert.objects.get().message
    assert last(found).event == "proposal.unreviewed"


def test_what_somebody_reviewed_stays(clock: Clock, tomas: User) -> None:
    found = forced(clock, review_by=None)
    expiry.sweep(clock.advance(hours=1))

    assert (state(found), Alert.objects.count()) == ("succeeded", 0)


def test_an_agents_forced_proposal_rings_for_its_resource(clock: Clock) -> None:
    target = agent(clock)
    proposal(clock, target, state="succeeded", review_by=clock.now, reversible=False)
    expiry.sweep(clock.now)

    assert Alert.objects.get().resource == target


# What is gone


@pytest.mark.parametrize("gone", ["Agent", "Controller"])
def test_proposals_end_with_their_resource_and_their_controller(clock: Clock, gone: str) -> None:
    found = made(clock)
    name = "scribe" if gone == "Agent" else "keeper"
    deletion.delete(gone, name, actor=ALICE, now=clock.now)
    swept = expiry.sweep(clock.now)

    assert (state(found), swept.gone) == ("withdrawn", 1)


def test_what_is_being_carried_out_goes_on_without_its_resource(clock: Clock) -> None:
    found = made(clock, state="executing")
    deletion.delete("Agent", "scribe", actor=ALICE, now=clock.now)
    expiry.sweep(clock.now)

    assert state(found) == "executing"


def test_a_sweep_goes_through_more_than_one_batch(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposal_end, "SOME", 2)
    for number in range(5):
        proposal(clock, agent(clock, f"scribe-{number}"), expires_at=clock.now)

    assert expiry.sweep(clock.now).expired == 5
