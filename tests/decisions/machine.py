"""A machine that does to the product whatever people, agents, workers and time can do to it.

Every rule is one call of a real use case, in any order, at any time, by anybody. What is refused
must have changed nothing; what was done is held against the promises by a judge who knows only
rows, the ledger, and the truth that the rules keep.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from controllers import execution
from controllers.decisions import expiry, holds
from controllers.execution import agent_tasks, failpoints
from controllers.execution.results import StepResult
from controllers.loop.cycle_run import Means
from resources.documents.problems import TAKEN, Problem
from tests.decisions.moments import Row
from tests.decisions.playing import (
    Crash,
    any_in,
    pick,
    target,
)
from tests.decisions.rules_of_deciding import Deciding
from tests.decisions.rules_of_people import Ruling
from tests.decisions.rules_of_proposing import Proposing

PLACES = (
    "before the claim",
    "before the claim commits",
    "after the claim commits",
    "before the call",
    "after the call",
    "before the result",
    "before the result commits",
    "after the result commits",
    "before the recovery commits",
    "after the recovery commits",
)
JUMPS = tuple(
    timedelta(seconds=each) for each in (1, 1, 31, 31, 61, 1_000, 1_200, 15_000, 90_000, 300_000)
)


class Machine(Proposing, Deciding, Ruling):
    """The organisation in the hands of chance."""

    @precondition(any_in("approved"))
    @rule(reply=st.sampled_from(["ok", "ok", "lost", "no"]))
    def a_worker_works(self, reply: str) -> None:
        self.replies = reply
        self.attempt("tick", self.tick)

    def tick(self) -> None:
        if any_in("executing")(self):
            execution.recover(self.truth.now)
        execution.run_due("worker", Means(clock=lambda: self.truth.now))

    @precondition(any_in("approved", "executing"))
    @rule(place=st.sampled_from(PLACES), reply=st.sampled_from(["ok", "lost"]))
    def a_worker_dies(self, place: str, reply: str) -> None:
        """I3: whatever it had not ended is found and ended, once."""
        self.replies = reply
        armed = failpoints.Armed(place, "error")

        def die() -> None:
            with mock.patch.object(failpoints, "armed", armed):
                try:
                    self.tick()
                except Crash:
                    self.tally["crashed"] += 1

        self.attempt("dying tick", die)

    def steps(self, *states: str) -> list[Row]:
        return [row for row in self.judge.seen.steps.values() if row["state"] in states]

    @precondition(lambda self: self.steps("waiting"))
    @rule(number=pick, name=target)
    def an_agent_claims(self, number: int, name: str) -> None:
        waiting = self.steps("waiting")
        key = waiting[number % len(waiting)]["id"]
        agent, now = self.world.targets[name], self.truth.now
        if claim := self.attempt("claim", lambda: agent_tasks.claim(key, agent, now)):
            self.claims[key] = claim

    @precondition(lambda self: self.claims)
    @rule(number=pick, behind=st.sampled_from([0, 0, 1]))
    def an_agent_goes_on(self, number: int, behind: int) -> None:
        key = list(self.claims)[number % len(self.claims)]
        claim, now = self.claims[key], self.truth.now
        if done := self.attempt(
            "heartbeat", lambda: agent_tasks.heartbeat(key, claim.fence - behind, claim.epoch, now)
        ):
            assert not behind, "An old fence was taken."
            self.claims[key] = done

    @precondition(lambda self: self.claims)
    @rule(
        number=pick,
        behind=st.sampled_from([0, 0, 1]),
        word=st.sampled_from(["done", "done", "failed", "transient", "unknown"]),
    )
    def an_agent_tells_the_end(self, number: int, behind: int, word: Any) -> None:
        """I3: only who has the claim is heard; what comes late is noted and changes nothing."""
        key = list(self.claims)[number % len(self.claims)]
        fence, now = self.claims[key].fence - behind, self.truth.now
        before = self.judge.seen.steps[key]
        mine = (before["state"], before["fence"]) == ("claimed", fence)

        def tell() -> bool:
            try:
                agent_tasks.report(key, fence, StepResult(word, "So it was."), now)
            except Problem as problem:
                if problem.code != TAKEN:
                    raise
                return False
            return True

        assert self.attempt("report", tell) is mine, "Who is heard has the claim."

    # Time.

    @rule(by=st.sampled_from(JUMPS))
    def time_passes(self, by: timedelta) -> None:
        self.attempt("time", lambda: None)
        self.truth.now += by

    @precondition(lambda self: self.truth.now > self.swept)
    @rule()
    def somebody_sweeps(self) -> None:
        self.swept = self.truth.now
        sweeps = (expiry.sweep, holds.sweep, execution.recover)
        self.attempt("sweep", lambda: [sweep(self.swept) for sweep in sweeps])
