"""Ways of acting that no real one would choose, and the drift they act on, for tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from controllers.common.rows import Sighted
from controllers.engine.terms import Action, Controller, Result, Snapshot
from controllers.loop.cycle_run import MakeEffects
from controllers.workqueue.cycle_effects import Effects
from controllers.workqueue.target_store import Reader
from resources.documents.actor import SYSTEM, Actor
from resources.documents.kind import Document
from resources.usecases import specs, statuses
from tests.conftest import Clock
from tests.controllers.making import WANTED, controller, declare, domain
from tests.resources.making import made

Deed = Callable[[Effects, Action, Snapshot], Result]

ACTING: Document = {
    "enforcementMode": "enforce",
    "approval": "auto",
    "actions": {"onDrift": [{"type": "reconcile", "strategy": "immediate"}]},
}


def acting(name: str = "keeper", **spec: Any) -> Document:
    """Make a controller that may change what it watches without asking."""
    return controller(name, **ACTING | spec)


def understaffed(clock: Clock, *names: str, bound: int = 2, active: int = 1) -> None:
    """Declare domains with fewer agents at work than are bound to them: a drift of 0.25."""
    crews = {name: [f"{name}-{number}" for number in range(bound)] for name in names}
    declare(clock, *(domain(name, agents=crew) for name, crew in crews.items()))
    declare(
        clock, *(made("Agent", each, {"domain": name}) for name in names for each in crews[name])
    )
    for name in names:
        staffed(clock, name, active)


def staffed(clock: Clock, name: str, active: int, actor: Actor = SYSTEM) -> None:
    """Report how many agents of a domain are at work; all else is well."""
    seen = {"activeAgents": active, "kpis": [{"name": "ships", "value": WANTED}]}
    told = statuses.Report("Domain", name, seen)
    assert not statuses.observe([told], actor=actor, now=clock.now)[0].failed


def doing(deed: Deed) -> type[Effects]:
    """Return means whose changes are this deed; what is told and recorded goes the usual way."""

    class Doing(Effects):
        def perform(self, action: Action, snapshot: Snapshot) -> Result:
            if action.kind in ("record", "notify"):
                return super().perform(action, snapshot)
            return deed(self, action, snapshot)

    return Doing


def succeeds(_: Effects, __: Action, ___: Snapshot) -> Result:
    """Say that it worked, and change nothing."""
    return "success"


def fails(_: Effects, __: Action, ___: Snapshot) -> Result:
    """Never work."""
    raise RuntimeError("the crane is broken")


def hangs(effects: Effects, _: Action, __: Snapshot) -> Result:
    """Come to no end until the time of the cycle is over."""
    effects.deadline = time.monotonic() + 0.05
    while True:
        effects.check()


def one_after_the_other(*deeds: Deed) -> Deed:
    """Do something else each time, and the last of it for ever."""
    left = list(deeds)

    def deed(effects: Effects, action: Action, snapshot: Snapshot) -> Result:
        chosen = left.pop(0) if len(left) > 1 else left[0]
        return chosen(effects, action, snapshot)

    return deed


def scales(clock: Clock) -> Deed:
    """Bring as many agents to work as the action says."""

    def deed(effects: Effects, action: Action, snapshot: Snapshot) -> Result:
        actor = Actor("controller", effects.controller.name)
        staffed(clock, snapshot.target.name, action.parameters["to"], actor)
        return "success"

    return deed


def declares(clock: Clock, purpose: str, actor: Actor | None = None) -> Deed:
    """Declare another purpose of the target."""

    def deed(effects: Effects, _: Action, snapshot: Snapshot) -> Result:
        target = snapshot.target
        document = made(target.kind, target.name, {**target.spec, "purpose": purpose})
        by = actor or Actor("controller", effects.controller.name)
        assert specs.apply([specs.DesiredDocument(document)], actor=by, now=clock.now).written
        return "success"

    return deed


def each_its_own(**deeds: Deed) -> MakeEffects:
    """Give each controller its own deed, by its name."""

    def make(found: Controller) -> Effects:
        return doing(deeds[found.name])(found)

    return make


class Fire:
    """While it burns no resource can be read, and every cycle fails."""

    def __init__(self, patch: pytest.MonkeyPatch, burns: bool = True) -> None:
        self.burns = burns
        usual = Reader.snapshots

        def snapshots(reader: Reader, found: Sighted) -> Any:
            if self.burns:
                raise RuntimeError("the harbour is on fire")
            return usual(reader, found)

        patch.setattr(Reader, "snapshots", snapshots)


def results(actions: Sequence[Document]) -> list[str]:
    """Return what became of actions."""
    return [each["result"] for each in actions]
