"""Whether what was carried out helped: later looks tell, and the deadline ends the waiting."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from controllers.decisions import expiry
from controllers.decisions.creation.verification import effect
from controllers.models import Judgement, Proposal
from tests.conftest import Clock
from tests.decisions.looking import HARBOUR, again, lacking, look, proposed, staff, story
from tests.decisions.making import proposal as filed
from tests.resources.making import live
from tests.rows import every_row

CASES = {
    "the drift is gone": (0.4, False, 0.05, "effective"),
    "it was never measured before": (None, False, 0.05, "effective"),
    "it is less than it was": (0.4, True, 0.3, "effective"),
    "it is as it was": (0.4, True, 0.4, None),
    "it is a little more": (0.4, True, 0.45, None),
    "it is much more": (0.4, True, 0.451, "worse"),
    "nothing is known now": (0.4, False, None, None),
    "there is drift and nothing to hold it against": (None, True, 0.4, None),
}


@every_row("case", CASES)
def test_what_a_later_look_says_of_what_was_done(case: str) -> None:
    before, drifted, score, expected = CASES[case]

    assert effect(before, drifted, score) == expected


def carried_out(clock: Clock, state: str = "verifying", **given: Any) -> Proposal:
    """Let the keeper propose, and write down that it was carried out."""
    proposal = proposed(clock)
    done = {"executed_at": clock.now, "verify_by": clock.now + timedelta(hours=1)}
    if state == "unknown":
        done = {"changed_at": clock.now}
    Proposal.objects.filter(pk=proposal.pk).update(state=state, **done | given)
    return proposal


@pytest.mark.django_db
@pytest.mark.parametrize(("active", "score"), [(3, 0.25), (1, 0.3)])
def test_what_helped_has_succeeded(clock: Clock, active: int, score: float) -> None:
    """A step on the way counts as much as the whole way."""
    proposal = carried_out(clock, score=score)
    staff(clock, active)
    look(clock)

    assert (again(proposal).state, again(proposal).outcome) == ("succeeded", "effective")
    assert story(proposal) == ["created", "verified"]


@pytest.mark.django_db
def test_what_has_not_shown_its_effect_yet_is_waited_for(clock: Clock) -> None:
    proposal = carried_out(clock)
    look(clock)

    assert (again(proposal).state, again(proposal).outcome) == ("verifying", "")
    assert Proposal.objects.count() == 1


@pytest.mark.django_db
def test_what_made_it_worse_has_failed(clock: Clock) -> None:
    proposal = carried_out(clock, score=0.1)
    staff(clock, 0)
    look(clock)

    assert (again(proposal).state, again(proposal).outcome) == ("failed", "worse")
    assert story(proposal) == ["created", "failed"]


@pytest.mark.django_db
def test_a_look_that_began_before_the_end_of_it_says_nothing(clock: Clock) -> None:
    proposal = carried_out(clock, executed_at=clock.now + timedelta(minutes=6))
    staff(clock, 3)
    look(clock)
    assert again(proposal).state == "verifying"
    look(clock)

    assert again(proposal).state == "succeeded"


@pytest.mark.django_db
def test_what_is_well_as_before_verifies_too(clock: Clock) -> None:
    """The drift went away before the execution ended: no later look has any news."""
    proposal = carried_out(clock, executed_at=clock.now + timedelta(minutes=7))
    staff(clock, 3)
    look(clock)
    look(clock)

    assert again(proposal).state == "succeeded"


@pytest.mark.django_db
@pytest.mark.parametrize(("active", "state"), [(3, "succeeded"), (2, "unknown")])
def test_of_what_nobody_heard_again_only_the_end_of_the_drift_tells(
    clock: Clock, active: int, state: str
) -> None:
    proposal = carried_out(clock, "unknown")
    staff(clock, active)
    look(clock)

    assert again(proposal).state == state


@pytest.mark.django_db
def test_what_is_being_undone_is_not_verified(clock: Clock) -> None:
    proposal = carried_out(clock, undoing=True)
    staff(clock, 3)
    look(clock)
    expiry.sweep(clock.advance(hours=2))

    assert again(proposal).state == "verifying"


@pytest.mark.django_db
def test_what_shows_no_effect_in_time_has_failed(clock: Clock) -> None:
    proposal = carried_out(clock)
    expiry.sweep(clock.advance(minutes=59))
    assert again(proposal).state == "verifying"
    swept = expiry.sweep(clock.advance(minutes=1))

    assert (again(proposal).state, again(proposal).outcome) == ("failed", "ineffective")
    assert swept.verified == 1


@pytest.mark.django_db
def test_at_the_deadline_the_last_look_counts(clock: Clock) -> None:
    proposal = carried_out(clock)
    Judgement.objects.update(drifted=False, score=0.0)
    expiry.sweep(clock.advance(hours=1))

    assert (again(proposal).state, again(proposal).outcome) == ("succeeded", "effective")


@pytest.mark.django_db
def test_where_nobody_looks_what_was_done_is_done(clock: Clock) -> None:
    harbour = lacking(clock)
    due: dict[str, Any] = {"state": "verifying", "executed_at": clock.now, "verify_by": clock.now}
    proposal = filed(clock, harbour, **due)
    expiry.sweep(clock.now)

    assert (again(proposal).state, again(proposal).outcome) == ("succeeded", "")


@pytest.mark.django_db
@pytest.mark.parametrize(("score", "state"), [(0.9, "succeeded"), (0.0, "failed")])
def test_what_an_agent_proposed_is_judged_by_whoever_looks(
    clock: Clock, score: float, state: str
) -> None:
    proposed(clock)
    due: dict[str, Any] = {
        "state": "verifying",
        "executed_at": clock.now,
        "verify_by": clock.now,
        "score": score,
    }
    proposal = filed(clock, live("Domain", HARBOUR), **due)
    expiry.sweep(clock.now)

    assert again(proposal).state == state
