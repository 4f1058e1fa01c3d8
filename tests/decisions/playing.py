"""How a rule of the machine is played: attempted, counted, judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest import mock

from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from controllers.decisions import answers, local_checkpoint
from controllers.decisions.proposals import SeenRevision
from controllers.execution import agent_tasks, failpoints
from controllers.models import Hold
from controllers.operations import webhooks
from controllers.operations.webhooks import Reply
from controllers.workqueue import compiled_controllers
from resources.documents.problems import Problem
from resources.store import evidence
from resources.tables.models import Resource
from tests.decisions.judging import OPEN, Judge
from tests.decisions.moments import Row
from tests.decisions.world import PEOPLE, TARGETS, Said, Truth, World

REFUSALS = (Problem,)
WHY = "Because it is so."
CONSEQUENT = ("override", "change", "break_glass", "adopt")
FACTORS = (0.25, 0.5, 0.75)
LIMIT = "spec.tokenBudget.maxDaily"
pick = st.integers(0, 5)
who = st.sampled_from([*PEOPLE, "maya", "tomas"])
target = st.sampled_from(list(TARGETS))


class Crash(BaseException):
    """The worker died here: nothing in the product may catch it."""


def any_in(*states: str) -> Callable[[Any], bool]:
    """Ask whether some proposal is in one of some states."""

    def found(machine: Play) -> bool:
        return any(row["state"] in states for row in machine.judge.seen.proposals.values())

    return found


def proposed(machine: Play) -> bool:
    """Ask whether anything was ever proposed."""
    return bool(machine.judge.seen.proposals)


def has_room(machine: Play) -> bool:
    """Ask whether people could look at one more."""
    return sum(row["state"] in OPEN for row in machine.judge.seen.proposals.values()) < 6


class Play(RuleBasedStateMachine):
    """The organisation in the hands of chance."""

    world: World
    # What happened in all examples: steps, and what came of each rule.
    tally: Counter[str] = Counter()

    def __init__(self) -> None:
        super().__init__()
        compiled_controllers.compiled.cache_clear()
        # The game before was rolled back, and who remembers it would call this one restored.
        local_checkpoint.file().unlink(missing_ok=True)
        self.undo_all = transaction.atomic()
        self.undo_all.__enter__()
        self.truth = Truth()
        self.judge = Judge(self.truth, {row.pk: name for name, row in self.world.people.items()})
        self.refused, self.changed = False, set[int]()
        # What is true from the next step on.
        self.afterwards: list[Callable[[], None]] = []
        self.pages: list[tuple[int, SeenRevision]] = []
        self.last: Callable[[], Any] | None = None
        self.claims: dict[int, agent_tasks.Claim] = {}
        # How the machine outside answers.
        self.replies = "ok"
        self.swept = self.truth.now
        self.restored = ExitStack()
        self.restored.enter_context(mock.patch.object(webhooks, "call", self.receive))
        self.restored.enter_context(mock.patch.object(failpoints, "Broken", Crash))

    def teardown(self) -> None:
        """Verify the chain of everything that was told, and forget it."""
        self.restored.close()
        try:
            found = evidence.verify()
            assert found.ok, found.findings
        finally:
            self.tally.update({f"told {name}": n for name, n in self.judge.found.items()})
            transaction.set_rollback(True)
            self.undo_all.__exit__(None, None, None)

    @invariant()
    def every_promise_is_kept(self) -> None:
        """Ask the judge after every step."""
        self.judge.judge(refused=self.refused, by_people=self.changed)
        self.refused, self.changed = False, set()
        for become in self.afterwards:
            become()
        self.afterwards.clear()

    # How rules are made.

    def attempt(self, name: str, call: Callable[[], Any]) -> Any:
        """Do something that may be refused; then nothing may have happened."""
        self.tally["steps"] += 1
        try:
            done = call()
        except REFUSALS as refused:
            self.refused = True
            self.tally[f"{name} refused"] += 1
            self.tally[refused.code] += 1
            return None
        self.tally[name] += 1
        return True if done is None else done

    def person(self, name: str) -> User:
        return self.world.people[name]

    @property
    def rows(self) -> list[Row]:
        """What is proposed, the open and the latest first."""
        found = self.judge.seen.proposals.values()
        return sorted(found, key=lambda row: (row["state"] not in OPEN, -row["id"]))

    def chosen(self, number: int, *states: str) -> Row:
        """Choose a proposal, one that fits if there is any."""
        fitting = [row for row in self.rows if row["state"] in states]
        rows = fitting or self.rows
        return rows[number % min(len(rows), 6)]

    def answer(self, verb: str, row: Row, name: str, **given: Any) -> Any:
        """Let somebody answer what they see, and keep the page they saw."""
        seen = SeenRevision(row["revision"], row["action_digest"])
        self.pages.append((row["id"], seen))

        def say() -> Any:
            say_it = getattr(answers, verb)
            about = {"person": self.person(name), "seen": seen, "now": self.truth.now}
            return say_it(row["id"], **about | {"reason": WHY} | given)

        done = self.attempt(verb, say)
        # What has consequences that are to be kept in mind is repeated only once it was heard.
        self.last = say if done or verb not in CONSEQUENT else None
        return done

    def place(self, before: set[int], said: Said, name: str) -> None:
        """Keep in mind that a hold stands, and that it may have put a value into a spec."""
        (key,) = set(Hold.objects.values_list("pk", flat=True)) - before
        self.truth.holds[key] = said
        if said.path:
            self.write(said.resource or 0, name)

    def write(self, key: int, name: str) -> None:
        """Keep in mind that somebody wrote a spec."""
        self.changed.add(key)
        row = Resource.objects.only("generation").get(pk=key)
        if row.generation > self.judge.seen.resources[key]["generation"]:
            self.afterwards.append(lambda: self.truth.authors.update({key: name}))

    def receive(self, *_: Any, **__: Any) -> Reply:
        """Be the machine outside."""
        if self.replies == "no":
            return Reply(409, False, True, "No.")
        if self.replies == "lost":
            return Reply(None, False, False, "Nobody answered.")
        return Reply(200, True, True, "Done.")
