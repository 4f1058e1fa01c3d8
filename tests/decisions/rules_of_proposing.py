"""What is proposed: by people, by agents, and by the controller that looks."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from controllers.decisions import creation
from controllers.decisions.creation import Filing
from controllers.engine.terms import Case, Renewed
from controllers.execution import recheck
from controllers.loop.chunk_writer import Run
from controllers.models import Cycle, Runtime
from controllers.workqueue import compiled_controllers
from tests.decisions.moments import Row
from tests.decisions.playing import (
    FACTORS,
    WHY,
    Play,
    any_in,
    has_room,
    pick,
    target,
    who,
)
from tests.decisions.world import PROPOSERS


class Proposing(Play):
    """Whoever wants something done."""

    @precondition(has_room)
    @rule(
        name=target, factor=st.sampled_from(FACTORS), by=st.sampled_from(["ines", "olga", "maya"])
    )
    def a_person_proposes(self, name: str, factor: float, by: str) -> None:
        self.file(
            self.person(by), name, {"operation": "throttle", "parameters": {"factor": factor}}
        )

    @precondition(has_room)
    @rule(factor=st.sampled_from(FACTORS), by=st.sampled_from(list(PROPOSERS)))
    def an_agent_proposes(self, factor: float, by: str) -> None:
        wish = {"operation": "throttle", "parameters": {"factor": factor}}
        self.file(self.world.tokens[by], "scribe", wish)

    @precondition(has_room)
    @rule(name=target, risky=st.booleans())
    def somebody_proposes_what_is_grave(self, name: str, risky: bool) -> None:
        patch = {"patch": {"purpose": f"Does {len(self.pages)} things."}}
        wish: Row = {"operation": "modify-spec", "parameters": patch}
        if risky:
            wish = {"operation": "release", "parameters": {"type": "advisory"}}
        self.file(self.person("ines"), name, wish)

    @precondition(has_room)
    @rule(name=st.sampled_from(["scribe", "otter", "release"]))
    def somebody_proposes_work_for_others(self, name: str) -> None:
        operation = "start" if name == "release" else "restart"
        self.file(self.person("ines"), name, {"operation": operation, "parameters": {}})

    def file(self, by: Any, name: str, *actions: Row) -> None:
        filing = Filing(self.world.targets[name].pk, actions, WHY)
        self.last = lambda: creation.propose(filing, by=by, now=self.truth.now)
        self.attempt("propose", self.last)

    @rule(name=target)
    def the_controller_looks(self, name: str) -> None:
        """Take one resource through a look, as a cycle does."""
        key, now = self.world.targets[name].pk, self.truth.now

        def look() -> None:
            declared = compiled_controllers.load(self.world.keeper.pk)
            found = recheck.look_at(key, declared, now)
            cycle = Cycle(started_at=now, correlation_id="look")
            run = Run(declared, None, cycle)  # type: ignore[arg-type]
            with transaction.atomic():
                cases = [found] if isinstance(found, Case) else []
                renewed = [found] if isinstance(found, Renewed) else []
                creation.refresh(run, cases, renewed, now)
                Runtime.objects.update(only_proposes_from=None)

        self.attempt("look", look)

    @precondition(any_in("changes_requested"))
    @rule(number=pick, factor=st.sampled_from(FACTORS))
    def the_proposer_revises(self, number: int, factor: float) -> None:
        row = self.chosen(number, "changes_requested")
        kind, name = row["proposer"].split("/")
        by: Any = self.world.tokens.get(name) if kind == "agent" else self.world.people.get(name)
        wish = {"operation": "throttle", "parameters": {"factor": factor}}
        filing = Filing(row["resource_id"], [wish], WHY)
        by = by or self.person("ines")
        self.attempt(
            "revise", lambda: creation.revise(row["id"], filing, by=by, now=self.truth.now)
        )

    @precondition(any_in("expired", "lapsed"))
    @rule(number=pick, name=who)
    def somebody_proposes_again(self, number: int, name: str) -> None:
        row = self.chosen(number, "expired", "lapsed")
        by = self.person(name)
        self.attempt(
            "repropose", lambda: creation.repropose(row["id"], person=by, now=self.truth.now)
        )
