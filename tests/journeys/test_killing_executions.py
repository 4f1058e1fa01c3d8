"""Workers killed at every place of an execution: nothing is lost, and nothing happens twice."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User

from controllers import execution
from controllers.engine.proposal_lifecycle import LAPSES
from controllers.execution import agent_tasks, critical_section, recheck
from controllers.execution.results import StepResult
from controllers.models import Decision, Proposal, Step
from resources.documents.problems import Problem
from resources.store import evidence
from resources.tables.models import LedgerEvent, Resource
from tests.api.serving import ROOT, database_url
from tests.conftest import Clock
from tests.decisions.carrying import now, restarting, run, starting, story, workflow
from tests.decisions.conftest import clock
from tests.decisions.making import AGENT, action, agent, person, proposal
from tests.decisions.receiving import Receiver, endpoint, receiving
from tests.resources.conftest import real_database
from tests.resources.making import apply, live, made

__all__ = ["clock", "real_database"]

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.timeout(600), pytest.mark.full]

CLAIM = ("before the claim", "before the claim commits", "after the claim commits")
CALL = (
    "before the call",
    "after the call",
    "before the result",
    "before the result commits",
    "after the result commits",
)
RECOVERY = ("before the recovery", "before the recovery commits", "after the recovery commits")
WORK = ("before the work", "before the work commits", "after the work commits")
# Where nobody can know whether the call was heard.
DOUBTFUL = ("after the claim commits", *CALL[:-1])
# Each place is reached twenty times or more: by three kinds of work, by two, or by one.
SOME, HALF, ALL = 7, 10, 20


class Mortals:
    """Workers that can be killed, each in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def die(self, clock: Clock, place: str, do: str = "run", **more: Any) -> None:
        """Let a worker live until it comes to a place."""
        assert self.ask(clock, do, place=place, **more) == -signal.SIGKILL, place

    def ask(self, clock: Clock, do: str, **more: Any) -> int:
        """Ask for something, and return how it ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"do": do, "now": clock.now.isoformat(), **more}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def mortals(folder: Path) -> Iterator[Mortals]:
    """Prepare the process that the workers come from."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "ioa_site.settings",
        "IOA_DATA_DIR": str(folder),
        "IOA_SECRET_KEY": configured.SECRET_KEY,
        "IOA_SECRETS_KEY": ",".join(configured.SECRETS_KEYS),
        "IOA_WEBHOOKS_ALLOW_LOOPBACK": "true",
    }
    command = [sys.executable, "-m", "tests.journeys.mortal"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes) as process:  # type: ignore[call-overload]
        yield Mortals(process)
        process.stdin.close()


@pytest.fixture
def mortal(clock: Clock, maya: User, tmp_path: Path) -> Iterator[Mortals]:
    """Workers whose parent has carried something out already."""
    approved(clock, maya, agents(clock, "first", 1), action)
    with mortals(tmp_path / "data") as found:
        assert found.ask(clock, "warm up") == 0
        yield found


@pytest.fixture
def robot(clock: Clock, settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def maya(clock: Clock) -> User:
    return person(clock, "maya", "approver")


def approved(clock: Clock, maya: User, targets: list[Resource], write: Any) -> list[Proposal]:
    """Make one approved proposal for each of some resources."""
    made = []
    for each in targets:
        asked = write(each.name)
        wish = proposal(clock, each, actions=[asked], risk=asked["risk"], state="approved")
        made.append(wish)
    Decision.objects.bulk_create(
        Decision(
            proposal=wish,
            revision=1,
            person=maya,
            actor="person/maya",
            answer="approve",
            shown=wish.action_digest,
            at=clock.now,
        )
        for wish in made
    )
    for wish in made:
        Proposal.objects.filter(pk=wish.pk).update(
            run_at=clock.now, execute_before=clock.now + LAPSES[wish.risk]
        )
    return [now(each) for each in made]


def go_on(clock: Clock) -> None:
    """Be the next worker, until nothing is left that a machine may do."""
    clock.advance(seconds=31)
    for _ in range(40):
        found = execution.recover(clock.now)
        clock.advance(seconds=5)
        if not found + run(clock, "next"):
            return
    raise AssertionError("There is always something left to do.")


def words(wishes: list[Proposal]) -> set[str]:
    return {now(each).state for each in wishes}


def changes_of(wish: Proposal) -> int:
    """Count how often the target of a proposal was changed."""
    return wish.resource.revisions.count() - 1


def agents(clock: Clock, place: str, count: int) -> list[Resource]:
    """Declare some agents, in one go."""
    spec = {"domain": "growth", "tokenBudget": {"maxDaily": 1_000_000}}
    names = [f"{place.replace(' ', '-')}-{number}" for number in range(count)]
    assert apply(clock.now, *(made("Agent", name, spec) for name in names)).written
    return [live("Agent", name) for name in names]


def check_chain(wishes: list[Proposal]) -> None:
    """Every execution ended once, and the ledger is whole."""
    for each in wishes:
        assert story(each).count("executed") == (now(each).state == "verifying")
    assert evidence.verify().findings == []


def kill_inside(clock: Clock, maya: User, mortal: Mortals, times: int) -> None:
    """Kill workers while they change what is declared."""
    everything: list[Proposal] = []
    for place in CLAIM:
        wishes = approved(clock, maya, agents(clock, place, times), action)
        for _ in range(times):
            mortal.die(clock, place)
        go_on(clock)
        assert words(wishes) == {"verifying"}, place
        assert {changes_of(each) for each in wishes} == {1}, place
        everything += wishes
    check_chain(everything)


def kill_calls(clock: Clock, maya: User, mortal: Mortals, robot: Receiver, times: int) -> None:
    """Kill workers around calls that may be made twice."""
    everything: list[Proposal] = []
    for place in (*CLAIM, *CALL):
        count = SOME if place in CLAIM and times == HALF else times
        wishes = approved(clock, maya, agents(clock, place, count), restarting)
        for _ in range(count):
            mortal.die(clock, place)
        go_on(clock)
        assert words(wishes) == {"verifying"}, place
        everything += wishes
    keys = set(Step.objects.filter(executor="webhook").values_list("key", flat=True))
    assert robot.effects == keys
    assert len(keys) == len(everything)
    assert max(robot.calls.values()) <= 2
    check_chain(everything)


def kill_single(clock: Clock, maya: User, mortal: Mortals, robot: Receiver, times: int) -> None:
    """Kill workers around calls that must not be made twice."""
    everything: list[Proposal] = []
    agent(clock, AGENT)
    for place in (*CLAIM, *CALL):
        count = SOME if place in CLAIM and times == HALF else times
        word = place.replace(" ", "-")
        flows = [workflow(clock, f"{word}-{number}") for number in range(count)]
        wishes = approved(clock, maya, flows, starting)
        for _ in range(count):
            mortal.die(clock, place)
        go_on(clock)
        expected = {"unknown"} if place in DOUBTFUL else {"verifying"}
        assert words(wishes) == expected, place
        everything += wishes
    for each in everything:
        heard = robot.calls[each.steps.get().key]
        assert heard <= 1
        assert heard == 1 or now(each).state == "unknown"
    check_chain(everything)


def kill_recoveries(
    clock: Clock, maya: User, mortal: Mortals, robot: Receiver, times: int
) -> None:
    """Kill workers while they take over from others that were killed."""
    everything: list[Proposal] = []
    for place in RECOVERY:
        wishes = approved(clock, maya, agents(clock, place, times), restarting)
        for wish in wishes:
            assert critical_section.enter(wish, recheck.look(wish, clock.now), "lost", clock.now)
        clock.advance(seconds=31)
        for _ in range(times):
            mortal.die(clock, place, "recover")
        go_on(clock)
        assert words(wishes) == {"verifying"}, place
        everything += wishes
    assert set(robot.calls.values()) == {1}
    assert len(robot.calls) == len(everything)
    check_chain(everything)


def kill_reports(clock: Clock, maya: User, mortal: Mortals, times: int) -> None:
    """Kill the server while agents report; each reports again when it hears nothing."""
    everything: list[Proposal] = []
    for place in WORK:
        targets = agents(clock, place, times)
        wishes = approved(clock, maya, targets, restarting)
        assert run(clock) == times
        for target, wish in zip(targets, wishes, strict=True):
            step = wish.steps.get()
            claim = agent_tasks.claim(step.pk, target, clock.now)
            mortal.die(clock, place, "report", step=step.pk, fence=claim.fence)
            try:
                agent_tasks.report(step.pk, claim.fence, StepResult("done"), clock.now)
            except Problem as problem:
                if problem.code != "taken":
                    raise
                assert place == "after the work commits"
        assert words(wishes) == {"verifying"}, place
        everything += wishes
    check_chain(everything)


@pytest.mark.quick
def test_every_failpoint_is_reached_here() -> None:
    """The list comes from the source: one that is added there must be added here."""
    found = set()
    for file in sorted((ROOT / "controllers").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("failpoint"):
                found.add(ast.literal_eval(node.args[0]))
    assert found == {*CLAIM, *CALL, *RECOVERY, *WORK}


def test_every_commit_and_every_call_has_a_failpoint_before_and_after() -> None:
    """A transaction of the executor that no test can interrupt would be a promise untested."""
    for file in sorted((ROOT / "controllers" / "executing").glob("*.py")):
        text = file.read_text()
        opened = text.count("store.all_or_stale()") + text.count("transaction.atomic()")
        calls = text.count("webhooks.call(")
        assert text.count('failpoint("before') == 2 * opened + calls, file.name
        assert text.count('failpoint("after') == opened + calls, file.name


@pytest.mark.quick
def test_a_worker_killed_inside_does_it_once(clock: Clock, maya: User, mortal: Mortals) -> None:
    """I3 F1"""
    kill_inside(clock, maya, mortal, SOME)


def test_a_call_that_may_be_made_twice_has_one_effect(
    clock: Clock, maya: User, mortal: Mortals, robot: Receiver
) -> None:
    """I3 F1 F12"""
    endpoint(clock, robot, "restart")
    kill_calls(clock, maya, mortal, robot, HALF)


def test_a_call_that_must_not_be_made_twice_is_left_to_a_person_in_doubt(
    clock: Clock, maya: User, mortal: Mortals, robot: Receiver
) -> None:
    """I3 F1"""
    endpoint(clock, robot, "start")
    kill_single(clock, maya, mortal, robot, HALF)


def test_a_worker_killed_while_it_takes_over_loses_nothing(
    clock: Clock, maya: User, mortal: Mortals, robot: Receiver
) -> None:
    """I3 I13"""
    endpoint(clock, robot, "restart")
    kill_recoveries(clock, maya, mortal, robot, ALL)


def test_a_report_of_an_agent_counts_once(clock: Clock, maya: User, mortal: Mortals) -> None:
    """I3 F12"""
    kill_reports(clock, maya, mortal, ALL)


@pytest.mark.slow
def test_everything_again_twenty_times_each(
    clock: Clock, maya: User, mortal: Mortals, robot: Receiver
) -> None:
    """I3 F1: each kind of work dies twenty times at each place."""
    kill_inside(clock, maya, mortal, ALL)
    endpoint(clock, robot, "restart", "start")
    kill_calls(clock, maya, mortal, robot, ALL)
    kill_single(clock, maya, mortal, robot, ALL)
    assert not LedgerEvent.objects.filter(event="proposal.late-result").exists()
