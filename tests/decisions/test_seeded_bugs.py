"""Every planted bug is noticed, by a scenario that the product as it is goes through."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from controllers import execution
from controllers.access import roles
from controllers.decisions import answers, holds, local_checkpoint
from controllers.execution import agent_tasks, critical_section, outside_calls, recheck
from controllers.execution.results import StepResult
from controllers.models import Grant, Hold, Proposal, Runtime, Step
from controllers.workqueue import compiled_controllers
from resources.documents.actor import Actor
from resources.documents.problems import CHANGED, EXPIRED, FORBIDDEN, STOPPED, TAKEN, Problem
from resources.tables import ledger
from resources.tables.models import Resource
from resources.usecases import specs, tokens
from tests.conftest import Clock
from tests.decisions.bugs import BUGS, Bug, planted
from tests.decisions.carrying import (
    LIMIT,
    approve,
    authorise,
    keeper,
    limit,
    overspending,
    planned,
    restarting,
    run,
    starting,
    state,
    steps,
    wait,
    workflow,
)
from tests.decisions.making import agent, controller, person, proposal, seen
from tests.decisions.receiving import endpoint, receiving
from tests.resources.making import live, made

pytestmark = pytest.mark.django_db


class Stage:
    """A clock, some people, and what the scenarios do again and again."""

    def __init__(self, stack: ExitStack) -> None:
        self.clock = Clock()
        self.clock.now = datetime.now(UTC)
        self.stack = stack
        self.maya = person(self.clock, "maya", "approver")
        self.tomas = person(self.clock, "tomas", "approver")
        self.ines = person(self.clock, "ines", "operator")

    @property
    def now(self) -> datetime:
        return self.clock.now

    def wish(self, **given: Any) -> Proposal:
        """Wish for scribe to be throttled."""
        found = Resource.objects.filter(kind="Agent", name="scribe").first()
        return proposal(self.clock, found or agent(self.clock), **given)

    def hold(self, kind: str = "stop", scope: str = "organisation", **given: Any) -> Hold:
        wanted = holds.HoldRequest(kind, scope, "Leave it.", **given)
        return holds.place(wanted, person=self.ines, now=self.now).hold

    def say(self, verb: str, wish: Proposal, by: User, **given: Any) -> Proposal:
        about = {"person": by, "seen": seen(wish), "now": self.now, "reason": "It is so, really."}
        answered: Proposal = getattr(answers, verb)(wish.pk, **about | given)
        return answered

    def declare(self, purpose: str, by: str = "alice", **budget: int) -> None:
        """Declare scribe anew."""
        spec = live("Agent", "scribe").spec | {"purpose": purpose}
        spec |= {"tokenBudget": spec["tokenBudget"] | budget}
        wish = specs.DesiredDocument(made("Agent", "scribe", spec))
        assert specs.apply([wish], actor=Actor("person", by), now=self.now).written

    def offered(self, **given: Any) -> Step:
        """Let a restart wait for its agent."""
        found = approve(self.clock, self.wish(actions=[restarting()], **given), self.maya)
        run(self.clock)
        return steps(found)[0]


def refused(code: str, call: Callable[[], object]) -> None:
    """Insist that something is refused."""
    try:
        call()
    except Problem as problem:
        if problem.code == code:
            return
        raise
    raise AssertionError("It was not refused.")


def nothing_happened() -> None:
    assert limit() == LIMIT, "It happened."


# The scenarios, each named as the bug it notices.


def an_effect_does_not_ask_for_holds(stage: Stage) -> None:
    approve(stage.clock, stage.wish(), stage.maya)
    stage.hold()
    run(stage.clock)
    nothing_happened()


def holds_are_asked_for_before_the_lock_is_taken(stage: Stage) -> None:
    """Be faster than the worker by a moment."""
    approve(stage.clock, stage.wish(), stage.maya)

    def hurry(name: str) -> None:
        if name == "before the claim" and not Hold.objects.exists():
            stage.hold()

    stage.stack.enter_context(mock.patch.object(critical_section, "failpoint", hurry))
    run(stage.clock)
    nothing_happened()


def a_quorum_is_met_only_exactly(stage: Stage) -> None:
    """One vote does not count while its person is away; then there are more than enough."""
    wish = stage.wish(people=2)
    stage.say("approve", wish, stage.maya)
    User.objects.filter(pk=stage.maya.pk).update(is_active=False)
    assert stage.say("approve", wish, stage.tomas).state == "pending"
    User.objects.filter(pk=stage.maya.pk).update(is_active=True)
    third = person(stage.clock, "nadia", "approver")
    assert stage.say("approve", wish, third).state == "approved"


def rights_are_remembered(stage: Stage) -> None:
    agent(stage.clock)
    stage.hold()
    Grant.objects.filter(person=stage.ines).delete()
    refused(FORBIDDEN, stage.hold)


def votes_are_not_asked_about_again(stage: Stage) -> None:
    approve(stage.clock, stage.wish(), stage.maya)
    Grant.objects.filter(person=stage.maya).delete()
    run(stage.clock)
    nothing_happened()


def a_policy_outlives_the_hold_that_stopped_it(stage: Stage) -> None:
    owner = keeper(stage.clock, enforcementMode="enforce", approval="auto")
    authorise(stage.clock, planned(stage.clock, owner, overspending(stage.clock)))
    Runtime.objects.create(controller=owner, started_at=stage.now, resync_at=stage.now)
    found = stage.hold("pause", "controller", controller=owner.pk)
    holds.lift(found.pk, person=stage.maya, now=stage.now, reason="Go on.")
    run(stage.clock)
    nothing_happened()


def whoever_has_a_part_in_it_approves(stage: Stage) -> None:
    wish = stage.wish(proposer="person/maya")
    refused(FORBIDDEN, lambda: stage.say("approve", wish, stage.maya))


def whoever_edited_it_approves(stage: Stage) -> None:
    wish = stage.say("change", stage.wish(), stage.maya, edits={1: {"factor": 0.7}})
    refused(FORBIDDEN, lambda: stage.say("approve", wish, stage.maya))


def whoever_declared_the_target_approves_at_high_risk(stage: Stage) -> None:
    agent(stage.clock)
    stage.declare("Writes more.", by="maya")
    wish = stage.wish(risk="high")
    refused(FORBIDDEN, lambda: stage.say("approve", wish, stage.maya))


def a_deputy_counts_beside_the_one_they_stand_for(stage: Stage) -> None:
    vera = person(stage.clock, "vera", "viewer")
    later = stage.now + timedelta(days=1)
    roles.delegate(vera, person=stage.maya, starts_at=stage.now, ends_at=later, now=stage.now)
    wish = stage.wish(people=2)
    stage.say("approve", wish, stage.maya)
    assert stage.say("approve", wish, vera).state == "pending"


def a_ceiling_is_not_asked_for(stage: Stage) -> None:
    nadia = person(stage.clock, "nadia", "approver", ceiling="low")
    wish = stage.wish(risk="medium")
    refused(FORBIDDEN, lambda: stage.say("approve", wish, nadia))


def a_grant_that_ended_still_counts(stage: Stage) -> None:
    Grant.objects.filter(person=stage.maya).update(ends_at=stage.now)
    wish = stage.wish()
    refused(FORBIDDEN, lambda: stage.say("approve", wish, stage.maya))


def what_was_approved_never_lapses(stage: Stage) -> None:
    approve(stage.clock, stage.wish(), stage.maya)
    stage.clock.advance(hours=25)
    run(stage.clock)
    nothing_happened()


def what_waits_never_expires(stage: Stage) -> None:
    wish = stage.wish()
    stage.clock.advance(days=8)
    refused(EXPIRED, lambda: stage.say("approve", wish, stage.maya))


def an_old_form_is_taken(stage: Stage) -> None:
    shown = stage.wish()
    stage.say("change", shown, stage.tomas, edits={1: {"factor": 0.7}})
    refused(CHANGED, lambda: stage.say("approve", shown, stage.maya))


def a_target_that_was_declared_anew_is_changed_all_the_same(stage: Stage) -> None:
    approve(stage.clock, stage.wish(), stage.maya)
    stage.declare("Writes more.")
    run(stage.clock)
    nothing_happened()


def a_plan_that_rests_on_something_else_is_carried_out(stage: Stage) -> None:
    wish = planned(stage.clock, keeper(stage.clock), overspending(stage.clock))
    approve(stage.clock, wish, stage.maya)
    stage.declare("Writes more.")
    run(stage.clock)
    nothing_happened()


def it_happens_although_nobody_could_write_it_down(stage: Stage) -> None:
    wish = stage.wish()
    full = mock.Mock(side_effect=OSError("No space left."))
    with mock.patch.object(ledger, "append", full), pytest.raises(OSError, match="No space left"):
        stage.say("approve", wish, stage.maya)
    assert state(wish) == "pending"


def a_worker_that_was_replaced_is_heard(stage: Stage) -> None:
    """Its call ends only after another worker has taken over."""
    robot = stage.stack.enter_context(receiving())
    endpoint(stage.clock, robot, "start")
    wish = proposal(stage.clock, workflow(stage.clock), actions=[starting()], risk="medium")
    wish = approve(stage.clock, wish, stage.maya)
    order = critical_section.enter(wish, recheck.look(wish, stage.now), "worker", stage.now)
    assert order is not None
    stage.clock.advance(minutes=1)
    execution.recover(stage.now)
    assert state(wish) == "unknown"
    assert not outside_calls.record(order, StepResult("done"), stage.now)


def an_agent_that_lost_its_claim_is_heard(stage: Stage) -> None:
    step = stage.offered()
    scribe = live("Agent", "scribe")
    first = agent_tasks.claim(step.pk, scribe, stage.now)
    stage.clock.advance(seconds=61)
    execution.recover(stage.now)
    agent_tasks.claim(step.pk, scribe, stage.now)
    answer = StepResult("done")
    refused(TAKEN, lambda: agent_tasks.report(step.pk, first.fence, answer, stage.now))


def every_attempt_has_a_key_of_its_own(stage: Stage) -> None:
    robot = stage.stack.enter_context(receiving())
    endpoint(stage.clock, robot, "restart")
    robot.answers = [429]
    approve(stage.clock, stage.wish(actions=[restarting()]), stage.maya)
    run(stage.clock)
    wait(stage.clock)
    run(stage.clock)
    assert len(robot.headers) == 2
    assert len({each["webhook-id"] for each in robot.headers}) == 1


def what_nobody_saw_the_end_of_is_tried_again(stage: Stage) -> None:
    robot = stage.stack.enter_context(receiving())
    endpoint(stage.clock, robot, "start")
    robot.answers = [500]
    wish = proposal(stage.clock, workflow(stage.clock), actions=[starting()], risk="medium")
    approve(stage.clock, wish, stage.maya)
    run(stage.clock)
    wait(stage.clock)
    run(stage.clock)
    assert robot.calls.total() == 1


def an_agent_claims_what_is_held(stage: Stage) -> None:
    step = stage.offered()
    stage.hold()
    scribe = live("Agent", "scribe")
    refused(STOPPED, lambda: agent_tasks.claim(step.pk, scribe, stage.now))


def an_agent_goes_on_under_a_hold(stage: Stage) -> None:
    step = stage.offered()
    claim = agent_tasks.claim(step.pk, live("Agent", "scribe"), stage.now)
    stage.hold()
    epoch = holds.epoch()
    refused(STOPPED, lambda: agent_tasks.heartbeat(step.pk, claim.fence, epoch, stage.now))


def the_mode_of_the_time_of_the_proposal_is_kept(stage: Stage) -> None:
    """Its controller only observes by the time the agent comes."""
    owner = controller(stage.clock)
    step = stage.offered(controller=owner, proposer="agent/robin")
    lowered = made("Controller", "keeper", owner.spec | {"enforcementMode": "observe"})
    wish = specs.DesiredDocument(lowered, authorised=True)
    assert specs.apply([wish], actor=Actor("person", "olga"), now=stage.now).written
    scribe = live("Agent", "scribe")
    refused(STOPPED, lambda: agent_tasks.claim(step.pk, scribe, stage.now))


def the_glass_beats_a_hold(stage: Stage) -> None:
    wish = stage.wish()
    stage.hold()
    refused(STOPPED, lambda: stage.say("break_glass", wish, stage.maya))


def whoever_broke_the_glass_looks_it_over_after_another_answer(stage: Stage) -> None:
    wish = stage.say("break_glass", stage.wish(), stage.maya)
    stage.say("override", wish, stage.maya)
    about: dict[str, Any] = {"person": stage.maya, "now": stage.now, "reason": "It was right."}
    refused(FORBIDDEN, lambda: answers.review(wish.pk, **about))


def an_operator_lifts(stage: Stage) -> None:
    key = stage.hold().pk
    now, why = stage.now, "Go on."
    refused(FORBIDDEN, lambda: holds.lift(key, person=stage.ines, now=now, reason=why))


def done(stage: Stage) -> Proposal:
    """Have something done that can be undone."""
    wish = approve(stage.clock, stage.wish(), stage.maya)
    run(stage.clock)
    wish.refresh_from_db()
    assert limit() == LIMIT // 2
    return wish


def it_is_undone_after_its_time(stage: Stage) -> None:
    wish = done(stage)
    stage.clock.advance(hours=25)
    refused(EXPIRED, lambda: stage.say("undo", wish, stage.maya))


def what_others_declared_since_is_undone_with_it(stage: Stage) -> None:
    wish = done(stage)
    stage.declare("Writes more.", maxDaily=300_000)
    stage.say("undo", wish, stage.maya)
    run(stage.clock)
    assert limit() == 300_000


def a_token_decides(stage: Stage) -> None:
    wish = stage.wish()
    agent(stage.clock, "robin")
    issued = tokens.issue(
        "robin",
        scopes=["resources:read", "proposals:write"],
        lifetime=timedelta(days=1),
        actor=Actor("person", "tomas"),
        now=stage.now,
    )
    answer = Client().post(
        f"/api/v1/proposals/{wish.pk}/approve",
        {"reason": "It is right."},
        content_type="application/json",
        headers={"authorization": f"Bearer {issued.text}", "if-match": f'"{wish.tag}"'},
    )
    assert (answer.status_code, state(wish)) == (403, "pending")


def gone_through(found: Bug, *, buggy: bool) -> None:
    """Go through the scenario of a bug in a world of its own."""
    compiled_controllers.compiled.cache_clear()
    # The world before was rolled back, and who remembers it would call this one restored.
    local_checkpoint.file().unlink(missing_ok=True)
    scenario = globals()[found.name.replace(" ", "_")]
    with ExitStack() as stack:
        stack.enter_context(transaction.atomic())
        stack.callback(transaction.set_rollback, True)
        if buggy:
            stack.enter_context(planted(found))
        scenario(Stage(stack))


@pytest.mark.parametrize("found", BUGS, ids=lambda found: found.name)
def test_a_planted_bug_is_noticed(found: Bug, settings: Any) -> None:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    gone_through(found, buggy=False)
    # A scenario that waits in vain for an error fails, too.
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        gone_through(found, buggy=True)


def test_there_are_enough_bugs_and_no_two_of_one_name() -> None:
    assert len({each.name for each in BUGS}) == len(BUGS) >= 15
