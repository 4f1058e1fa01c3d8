"""What a lost worker left behind: nothing is lost, nothing is done twice, nobody guesses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers import execution
from controllers.decisions import holds
from controllers.execution import critical_section, failpoints, recheck
from controllers.execution.failpoints import Armed, Broken
from controllers.models import Proposal
from resources.store import evidence
from tests.api.serving import ROOT
from tests.conftest import Clock
from tests.decisions.carrying import (
    LIMIT,
    approve,
    limit,
    now,
    restarting,
    run,
    starting,
    state,
    steps,
    story,
    workflow,
)
from tests.decisions.making import action, agent, proposal
from tests.decisions.receiving import Receiver, endpoint, receiving
from tests.resources.conftest import real_database
from tests.resources.racing import together

__all__ = ["real_database"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def robot(clock: Clock, settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with receiving() as receiver:
        endpoint(clock, receiver, "restart", "start")
        yield receiver


def left(clock: Clock, wish: Proposal) -> Proposal:
    """Let a worker take a proposal up to its permit, and never be heard of again."""
    assert (
        critical_section.enter(wish, recheck.look(wish, clock.now), "lost", clock.now) is not None
    )
    return now(wish)


@pytest.fixture
def restart(clock: Clock, robot: Receiver, maya: User) -> Proposal:
    """A restart whose worker was lost."""
    wish = approve(clock, proposal(clock, agent(clock), actions=[restarting()]), maya)
    return left(clock, wish)


@pytest.fixture
def start(clock: Clock, robot: Receiver, maya: User) -> Proposal:
    """The start of a workflow, which must not happen twice, whose worker was lost."""
    wish = proposal(clock, workflow(clock), actions=[starting()], risk="medium")
    return left(clock, approve(clock, wish, maya))


def test_a_worker_that_is_only_busy_keeps_its_work(clock: Clock, restart: Proposal) -> None:
    clock.advance(seconds=29)

    assert execution.recover(clock.now) == 0
    assert run(clock) == 0
    assert state(restart) == "executing"


def test_what_may_be_sent_twice_is_sent_again_with_the_same_key(
    clock: Clock, robot: Receiver, restart: Proposal
) -> None:
    """O-48 I3 F1"""
    clock.advance(seconds=31)

    assert execution.recover(clock.now) == 1
    assert state(restart) == "approved"
    clock.advance(seconds=2)
    run(clock, "next")

    (step,) = steps(restart)
    assert (state(restart), step.attempts) == ("verifying", 2)
    assert robot.calls == {step.key: 1}
    assert story(restart)[-5:] == ["retried", "begun", "dispatched", "step-done", "executed"]


def test_what_must_not_happen_twice_is_for_a_person(
    clock: Clock, robot: Receiver, start: Proposal
) -> None:
    """O-48 I3 F1"""
    clock.advance(seconds=31)

    execution.recover(clock.now)
    clock.advance(minutes=5)
    run(clock, "next")

    assert (state(start), robot.bodies) == ("unknown", [])
    assert "lost" in now(start).error


def test_a_second_recovery_finds_nothing(clock: Clock, restart: Proposal) -> None:
    clock.advance(seconds=31)

    assert execution.recover(clock.now) == 1
    assert execution.recover(clock.now) == 0


def test_a_hold_meanwhile_leaves_what_may_have_happened_to_a_person(
    clock: Clock, robot: Receiver, restart: Proposal, maya: User
) -> None:
    """I2"""
    wanted = holds.HoldRequest(kind="stop", scope="organisation", reason="Fire.")
    holds.place(wanted, person=maya, now=clock.now)
    clock.advance(seconds=31)
    execution.recover(clock.now)
    clock.advance(seconds=2)

    run(clock)

    assert (state(restart), robot.bodies) == ("unknown", [])


@pytest.mark.usefixtures("real_database")
@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_takes_over(clock: Clock, restart: Proposal) -> None:
    clock.advance(seconds=31)

    found = together([lambda: execution.recover(clock.now)] * 4)

    assert sum(found) == 1
    assert (state(restart), now(restart).fence) == ("approved", 2)


def test_a_restart_loses_nothing(clock: Clock, robot: Receiver, maya: User) -> None:
    """I13: pending, approved and under way when every process is gone."""
    asked = proposal(clock, agent(clock, "asked"), actions=[action("asked")])
    said = approve(clock, proposal(clock, agent(clock, "said"), actions=[action("said")]), maya)
    begun = left(
        clock,
        approve(
            clock, proposal(clock, agent(clock, "begun"), actions=[restarting("begun")]), maya
        ),
    )
    clock.advance(hours=1)

    execution.recover(clock.now)
    run(clock)
    clock.advance(seconds=2)
    run(clock)

    assert [state(each) for each in (asked, said, begun)] == ["pending", "verifying", "verifying"]
    assert (limit("asked"), limit("said")) == (LIMIT, LIMIT // 2)
    assert sum(robot.calls.values()) == 1
    assert evidence.verify().findings == []


@pytest.mark.parametrize("place", ["before the claim", "before the claim commits"])
def test_an_error_in_the_section_leaves_no_trace(
    clock: Clock, maya: User, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """O-37 I5"""
    wish = approve(clock, proposal(clock, agent(clock)), maya)
    before = story(wish)
    monkeypatch.setattr(failpoints, "armed", Armed(place, "error"))

    with pytest.raises(Broken):
        execution.execute(wish.pk, "worker", clock.now)

    assert (state(wish), limit(), steps(wish), story(wish)) == ("approved", LIMIT, [], before)
    monkeypatch.undo()
    run(clock)
    assert (state(wish), limit()) == ("verifying", LIMIT // 2)


def test_one_that_breaks_keeps_no_other_from_being_done(
    clock: Clock, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = approve(clock, proposal(clock, agent(clock, "first"), actions=[action("first")]), maya)
    approve(clock, proposal(clock, agent(clock, "second"), actions=[action("second")]), maya)
    usual = recheck.look

    def broken(wish: Proposal, *given: Any) -> recheck.RecheckResult:
        if wish.pk == first.pk:
            raise ZeroDivisionError
        return usual(wish, *given)

    monkeypatch.setattr(recheck, "look", broken)
    run(clock)

    assert (limit("first"), limit("second")) == (LIMIT, LIMIT // 2)
    assert state(first) == "approved"


def test_without_the_variable_nothing_happens() -> None:
    assert failpoints.read("") is None
    assert failpoints.armed is None
    failpoints.failpoint("anywhere")


@pytest.mark.parametrize("told", ["here", "here:", ":kill", "here:dance"])
def test_a_variable_that_means_nothing_is_refused(told: str) -> None:
    with pytest.raises(ValueError, match="IOA_FAILPOINT"):
        failpoints.read(told)


def test_a_process_dies_where_the_variable_says() -> None:
    code = "from controllers.execution.failpoints import failpoint; failpoint('here')"
    environment = os.environ | {"IOA_FAILPOINT": "here:kill"}
    setup = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'ioa_site.settings'"
    command = [sys.executable, "-c", f"{setup}; django.setup(); {code}"]

    died = subprocess.run(command, cwd=ROOT, env=environment, timeout=60, capture_output=True)

    assert died.returncode == -signal.SIGKILL, died.stderr
