"""ACT: carry a plan out through the effects passed in, and note what became of each action."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from controllers.engine import gate, precedence
from controllers.engine.errors import EngineError, Fenced, Stopped, TimedOut
from controllers.engine.precedence import Reach, Standing
from controllers.engine.terms import Action, Controller, Outcome, Planned, Result, Ruling, Snapshot

# Why a change is put off: the controller may make only so many in one cycle.
MOST_ACTIONS = "MaxActionsPerCycle"
# The modes in which people are told of things.
TELLING = ("warn", "enforce")


class Traits(NamedTuple):
    """What the catalogue knows of an operation besides what its plan says."""

    destructive: bool = False
    # Whether it changes what is declared freely, or takes an agent over.
    redeclares: bool = False
    # The fields it writes.
    touches: tuple[str, ...] = ()
    # Why it cannot be done.
    fault: str = ""


class Effects(Protocol):
    """What actions do in the world. The engine decides that, the runner decides how."""

    # How many changes were made in this cycle.
    changes: int
    # What people said no to, as it stands now.
    holds: tuple[Standing, ...]
    # What was earned: pairs of an operation and a domain.
    earned: frozenset[tuple[str, str]]
    # Whether nothing runs without a person this time: the first cycle after a hold.
    only_propose: bool
    now: datetime

    def traits(self, action: Action) -> Traits:
        """Say what the catalogue knows of an operation."""

    def check(self) -> None:
        """Raise when the cycle has to end: out of time, told to stop, or no longer the holder."""

    def tell_instead(self, action: Action, snapshot: Snapshot, ruling: Ruling) -> None:
        """Tell people of an action that is not done to such a target."""

    def perform(self, action: Action, snapshot: Snapshot) -> Result:
        """Do it and say what became of it; an exception is a failure."""


def execute(controller: Controller, planned: Planned, effects: Effects) -> tuple[Outcome, ...]:
    """Go through a plan in its order; after a failure go on, unless the controller says stop."""
    outcomes: list[Outcome] = []
    for action in planned.actions:
        effects.check()
        failed = any(each.result == "failure" for each in outcomes)
        if failed and controller.stop_on_error:
            outcomes.append(Outcome(action, "skipped", "An action before it failed."))
        else:
            outcomes.append(consider(controller, action, planned.snapshot, effects))
    return tuple(outcomes)


def consider(
    controller: Controller, action: Action, snapshot: Snapshot, effects: Effects
) -> Outcome:
    """Do one action, as far as the gate lets it go."""
    ruling = gate.decide(question(controller, action, snapshot, effects))
    if ruling.code == MOST_ACTIONS:
        return Outcome(action, "skipped", MOST_ACTIONS, ruling)
    if ruling.word == "notify" and controller.mode in TELLING:
        effects.tell_instead(action, snapshot, ruling)
    if ruling.word != "run":
        return Outcome(action, "planned", ruling.word, ruling)
    outcome = attempt(action, snapshot, effects)
    effects.changes += action.kind in ("change", "block")
    return outcome._replace(verdict=ruling)


def question(
    controller: Controller, action: Action, snapshot: Snapshot, effects: Effects
) -> gate.Question:
    """Put everything before the gate that its answer rests on."""
    target = snapshot.target
    traits = effects.traits(action)
    touches = (*action.touches, *traits.touches)
    reach = Reach(target.key, target.domain, controller.key, touches)
    governance = target.spec.get("governance")
    left = None if controller.most_actions is None else controller.most_actions - effects.changes
    return gate.Question(
        kind=action.kind,
        mode=controller.mode,
        risk=action.risk,
        reversible=action.reversible,
        destructive=traits.destructive,
        redeclares=traits.redeclares,
        hold=precedence.strongest(effects.holds, reach) if effects.holds else None,
        snapshot=completeness(controller, snapshot, effects.now),
        fault=traits.fault,
        managed=target.labels.get("managed") != "false",
        protected="true" in (target.labels.get("blessed"), target.labels.get("protected")),
        skip_destructive=controller.skip_destructive,
        window_open=controller.window is None or controller.window(effects.now),
        actions_left=left,
        approval=controller.approval,
        requires_approval=isinstance(governance, dict)
        and governance.get("requiresApproval") is True,
        earned=(action.operation, target.domain) in effects.earned,
        only_propose=effects.only_propose,
    )


def completeness(
    controller: Controller, snapshot: Snapshot, now: datetime
) -> Literal["full", "partial", "stale"]:
    """Say whether what was read is enough to act on: all of it, a part, or too old."""
    if snapshot.missing:
        return "partial"
    reported = snapshot.target.reported_at
    if controller.staleness is None or reported is None:
        return "full"
    return "stale" if now - reported > controller.staleness else "full"


def put_off(outcomes: Iterable[Outcome]) -> bool:
    """Tell whether a change waits for the next cycle."""
    return any(each.reason == MOST_ACTIONS for each in outcomes)


def attempt(action: Action, snapshot: Snapshot, effects: Effects) -> Outcome:
    """Do one action; whatever goes wrong is its outcome."""
    try:
        return Outcome(action, effects.perform(action, snapshot))
    except (Fenced, Stopped, TimedOut):
        raise
    except EngineError as error:
        return Outcome(action, "failure", str(error))
    except Exception as error:  # an effect may fail in any way; the cycle goes on
        return Outcome(action, "failure", f"{type(error).__name__}: {error}")
