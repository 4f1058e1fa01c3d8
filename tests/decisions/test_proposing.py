"""What a controller's look proposes, and what it does not propose again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controllers.decisions import holds
from controllers.decisions.creation import suppression
from controllers.engine import digests
from controllers.engine.proposal_lifecycle import LAPSES, OPEN, WAITS
from controllers.models import Alert, Decision, Proposal, Shadow
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.controllers.faults import understaffed
from tests.controllers.making import declare, domain, judged, told, work
from tests.decisions.looking import (
    HARBOUR,
    again,
    edit_harbour,
    keeper,
    lacking,
    look,
    only,
    proposed,
    staff,
    story,
)
from tests.resources.making import live

pytestmark = pytest.mark.django_db

MINUTES = {"minutes": 5}


def written(statements: CaptureQueriesContext) -> list[str]:
    """Return the statements that wrote about proposals."""
    names = ("controllers_proposal", "controllers_decision", "controllers_shadow")
    asked = [each["sql"] for each in statements.captured_queries]
    return [
        each
        for each in asked
        if each.startswith(("INSERT", "UPDATE", "DELETE")) and any(name in each for name in names)
    ]


def test_what_a_controller_wants_is_put_before_people(clock: Clock) -> None:
    """O-23 D-20"""
    harbour = lacking(clock)
    controller = keeper(clock)
    work(clock)

    found, judgement = only(), judged(HARBOUR)
    assert (found.state, found.lane, found.mode, found.people) == ("pending", "ask", "warn", 1)
    assert (found.controller, found.resource) == (controller, harbour)
    assert (found.proposer, found.revision) == ("controller/keeper", 1)
    [action] = found.actions
    assert (action["operation"], action["target"]) == ("scale-agents", "domain/harbour")
    assert (action["parameters"]["from"], action["parameters"]["to"]) == (1, 3)
    assert found.action_digest == digests.of_actions(str(harbour.uid), found.actions)
    assert found.planned_digest == found.action_digest
    assert (found.score, found.urgency) == (judgement.score, judgement.urgency)
    assert (found.evidence, found.explanation) == (judgement.evidence, judgement.message)
    assert found.expires_at == clock.now + WAITS[found.risk]
    assert found.execute_before is None


def test_what_a_plan_rests_on_is_named(clock: Clock) -> None:
    found = proposed(clock)

    assert found.basis_digest == digests.of_basis(found.basis)
    assert found.basis["controller"] == live("Controller", "keeper").generation
    assert found.basis["generation"] == live("Domain", HARBOUR).generation
    assert found.basis["reads"] == digests.reads(found.evidence) != {}
    assert found.basis["policy"]["mode"] == "warn"


def test_a_proposal_is_told_with_the_story_of_its_cycle(clock: Clock) -> None:
    found = proposed(clock)

    [event] = told("proposal.created")
    assert (event.actor, event.stream) == ("controller/keeper", found.stream)
    assert event.correlation_id == found.correlation_id
    assert event.payload["actionDigest"] == found.action_digest
    assert event.payload["actions"] == found.actions


def test_what_the_policy_lets_run_carries_the_policys_decision(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1: nothing is carried out without a decision that precedes it."""
    monkeypatch.setattr("controllers.execution.run_due", lambda *_: 0)
    found = proposed(clock, "enforce")

    generation = live("Controller", "keeper").generation
    assert (found.state, found.lane, found.people) == ("approved", "run", 0)
    assert found.decided_by == f"policy/enforce@{generation}"
    assert (found.run_at, found.execute_before) == (clock.now, clock.now + LAPSES[found.risk])
    decision = Decision.objects.get()
    assert (decision.person, decision.actor, decision.revision) == (None, found.decided_by, 1)
    assert decision.shown == found.action_digest


@pytest.mark.parametrize(("mode", "states"), [("advise", ["recommended"]), ("observe", [])])
def test_a_controller_that_may_not_ask_recommends_or_only_notes(
    clock: Clock, mode: str, states: list[str]
) -> None:
    lacking(clock)
    keeper(clock, mode)
    work(clock)

    assert [each.state for each in Proposal.objects.all()] == states


def test_nothing_is_written_while_nothing_changes(clock: Clock) -> None:
    """I15: unchanged input, no write."""
    before = proposed(clock)
    clock.advance(**MINUTES)
    with CaptureQueriesContext(connection) as statements:
        work(clock)

    assert written(statements) == []
    assert again(before).confirmed_at == before.confirmed_at
    assert story(before) == ["created"]


def test_a_plan_that_stands_is_confirmed_every_quarter_of_an_hour(clock: Clock) -> None:
    before = proposed(clock)
    times = []
    for _ in range(7):
        look(clock)
        times.append(again(before).confirmed_at)

    assert len(set(times)) == 3
    assert times[2] == before.confirmed_at + timedelta(minutes=15)
    assert (again(before).revision, story(before)) == (1, ["created"])


def test_figures_that_move_neither_void_votes_nor_get_lost(clock: Clock) -> None:
    before = proposed(clock)
    Proposal.objects.filter(pk=before.pk).update(score=0.1, urgency="none")
    look(clock)

    after = again(before)
    assert (after.score, after.urgency) == (before.score, before.urgency)
    assert (after.revision, after.lock) == (1, 0)


def test_proposals_of_a_chunk_take_one_question(clock: Clock) -> None:
    understaffed(clock, *(f"pier-{number}" for number in range(4)))
    keeper(clock)
    work(clock)
    assert Proposal.objects.count() == 4
    clock.advance(**MINUTES)
    with CaptureQueriesContext(connection) as statements:
        work(clock)

    asked = [each["sql"] for each in statements.captured_queries]
    of_pairs = [
        each for each in asked if 'FROM "controllers_proposal"' in each and "EXISTS" in each
    ]
    assert len(of_pairs) == 1


def test_what_cannot_be_judged_is_left_as_it_is(clock: Clock, monkeypatch: Any) -> None:
    """No drift seen is not the same as no drift left."""
    from tests.controllers.making import while_judging

    def breaks(_: str) -> None:
        raise RuntimeError("the sensor is broken")

    before = proposed(clock)
    while_judging(monkeypatch, breaks)
    staff(clock, 1)
    look(clock)

    assert judged(HARBOUR).status == "Unknown"
    assert again(before).state == "pending"


def test_a_check_that_does_not_hold_is_in_the_way_of_what_is_proposed(clock: Clock) -> None:
    before = proposed(clock)
    calm = {"name": "calm", "action": "check domain.status.activeAgents > 1"}
    keeper(clock, hooks={"preReconcile": [calm]})
    look(clock)

    held = again(before)
    assert (held.state, held.held) == ("pending", "HookFailed")
    assert "calm does not hold" in held.held_reason
    keeper(clock)
    look(clock)
    assert (again(before).state, again(before).held) == ("pending", "")
    assert story(before) == ["created", "held", "revised"]


# What people said no to


def answered(clock: Clock, proposal: Proposal, state: str, answer: str, **given: Any) -> None:
    """Write down what a person said."""
    said = {"decided_by": "person/maya", "decided_at": clock.now, "changed_at": clock.now}
    Proposal.objects.filter(pk=proposal.pk).update(state=state, answer=answer, **said | given)


@pytest.mark.parametrize(("state", "answer"), [("rejected", "reject"), ("withdrawn", "withdraw")])
def test_what_people_rejected_is_not_proposed_again(clock: Clock, state: str, answer: str) -> None:
    answered(clock, proposed(clock), state, answer)
    look(clock)
    look(clock, hours=30)

    assert Proposal.objects.count() == 1


def test_what_was_rejected_comes_back_when_it_is_declared_anew(clock: Clock) -> None:
    answered(clock, proposed(clock), "rejected", "reject")
    edit_harbour(clock, "Bring all ships in.")
    look(clock)

    assert only().state == "pending"


def test_what_was_rejected_comes_back_when_it_is_more_urgent(clock: Clock) -> None:
    answered(clock, proposed(clock), "rejected", "reject", urgency="none")
    look(clock)

    assert only().state == "pending"


def test_another_plan_is_proposed_although_one_was_rejected(clock: Clock) -> None:
    answered(clock, proposed(clock), "rejected", "reject")
    staff(clock, 2)
    look(clock)

    assert only().actions[0]["parameters"]["from"] == 2


def test_what_was_accepted_until_a_date_comes_back_after_it(clock: Clock) -> None:
    until = clock.now + timedelta(days=2)
    answered(clock, proposed(clock), "rejected", "accept", quiet_until=until)
    edit_harbour(clock, "Bring all ships in.")
    look(clock, days=1)
    assert not Proposal.objects.filter(state__in=OPEN).exists()
    look(clock, days=1)

    assert only().state == "pending"


def test_what_a_person_undid_is_not_done_again_at_once(clock: Clock) -> None:
    proposal = proposed(clock)
    answered(clock, proposal, "rolled_back", "undo")
    edit_harbour(clock, "Bring all ships in.")
    look(clock)
    assert not Proposal.objects.filter(state__in=OPEN).exists()
    look(clock, hours=24)

    assert only().state == "pending"


@pytest.mark.parametrize("state", ["expired", "lapsed", "failed", "skipped"])
def test_what_came_to_nothing_is_proposed_again_while_the_drift_lasts(
    clock: Clock, state: str
) -> None:
    before = proposed(clock)
    Proposal.objects.filter(pk=before.pk).update(state=state)
    look(clock)

    assert only().action_digest == before.action_digest


def test_what_people_put_aside_comes_back_when_it_is_worse(clock: Clock) -> None:
    proposal = proposed(clock)
    assert proposal.score is not None
    rest = {"quiet_until": clock.now + timedelta(days=9), "quiet_above": proposal.score}
    Proposal.objects.filter(pk=proposal.pk).update(**rest)
    look(clock)
    assert again(proposal).quiet_until is not None
    Proposal.objects.filter(pk=proposal.pk).update(quiet_above=proposal.score - 0.01)
    look(clock)

    assert (again(proposal).quiet_until, again(proposal).quiet_above) == (None, None)
    assert story(proposal) == ["created", "woken"]


# Limits, holds, and what is gone


def test_a_controller_has_only_so_many_open_proposals(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I14: bounded, and said once."""
    monkeypatch.setattr(suppression, "MOST_OPEN", 2)
    understaffed(clock, *(f"pier-{number}" for number in range(5)))
    keeper(clock)
    work(clock)
    look(clock)
    look(clock)

    assert Proposal.objects.filter(state__in=OPEN).count() == 2
    [alert] = Alert.objects.filter(reason="TooManyProposals")
    assert (alert.resolved_at, alert.resource) == (None, live("Controller", "keeper"))
    assert "3 more plans" in alert.message


def test_there_is_room_again_once_people_have_decided(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suppression, "MOST_OPEN", 2)
    understaffed(clock, *(f"pier-{number}" for number in range(3)))
    keeper(clock)
    work(clock)
    answered(clock, Proposal.objects.earliest("pk"), "rejected", "reject")
    look(clock)

    assert Proposal.objects.filter(state__in=OPEN).count() == 2
    assert Alert.objects.get(reason="TooManyProposals").resolved_at == clock.now


def test_what_a_hold_stops_is_kept_as_a_shadow_and_shown_as_held(
    clock: Clock, ines: User, maya: User
) -> None:
    """I2: while a hold stands controllers go on planning, and propose nothing new."""
    proposal = proposed(clock)
    wanted = holds.HoldRequest("pause", "resource", resource=proposal.resource_id, reason="Storm.")
    placed = holds.place(wanted, person=ines, now=clock.now)
    look(clock)
    look(clock)

    held = again(proposal)
    assert (held.state, held.held) == ("pending", "Paused")
    assert "Storm." in held.held_reason
    shadow = Shadow.objects.get()
    assert (shadow.hold, shadow.action_digest) == (placed.hold, proposal.action_digest)
    assert (shadow.times, Proposal.objects.count()) == (1, 1)


def test_under_a_hold_nothing_new_is_proposed(clock: Clock, ines: User) -> None:
    wanted = holds.HoldRequest("stop", "organisation", reason="Storm.")
    holds.place(wanted, person=ines, now=clock.now)
    lacking(clock)
    keeper(clock)
    work(clock)

    assert not Proposal.objects.exists()
    assert Shadow.objects.get().actions[0]["operation"] == "scale-agents"


def test_what_is_no_longer_watched_is_withdrawn(clock: Clock) -> None:
    proposal = proposed(clock)
    keeper(clock, targetSelector={"matchLabels": {"tier": "core"}})
    look(clock)

    after = again(proposal)
    assert (after.state, after.decided_by) == ("withdrawn", "system/ioa")
    assert "no longer looks after it" in after.reason


def test_what_is_proposed_about_a_deleted_resource_is_withdrawn(clock: Clock) -> None:
    from resources.usecases import deletion
    from tests.resources.making import ALICE

    proposal = proposed(clock)
    deletion.delete("Domain", HARBOUR, actor=ALICE, now=clock.now)
    look(clock)

    assert again(proposal).state == "withdrawn"
    assert LedgerEvent.objects.filter(stream=proposal.stream, actor="system/ioa").exists()


def test_proposals_of_one_cause_share_its_name(clock: Clock) -> None:
    understaffed(clock, "east", "west")
    declare(clock, domain("dry"))
    keeper(clock)
    work(clock)

    causes = Proposal.objects.values_list("cause", flat=True)
    assert len(causes) == 2
    assert len(set(causes)) == 1
