"""ACT: carry a plan out through the effects passed in, and note what became of each action."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from controllers.engine.errors import EngineError, Fenced, Stopped, TimedOut
from controllers.engine.types import Action, Controller, Outcome, Planned, Result, Snapshot

# Why a change is put off: the controller may make only so many in one cycle.
MOST_ACTIONS = "MaxActionsPerCycle"


class Effects(Protocol):
    """What actions do in the world. The engine decides that, the runner decides how."""

    # How many changes were made in this cycle.
    changes: int

    def check(self) -> None:
        """Raise when the cycle has to end: out of time, told to stop, or no longer the holder."""

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
    """Do one action, as far as the mode and the number of changes in a cycle let it go."""
    if action.disposition != "run":
        return Outcome(action, "planned", action.disposition)
    if action.kind not in ("change", "block"):
        return attempt(action, snapshot, effects)
    if controller.most_actions is not None and effects.changes >= controller.most_actions:
        return Outcome(action, "skipped", MOST_ACTIONS)
    outcome = attempt(action, snapshot, effects)
    effects.changes += outcome.result in ("success", "failure")
    return outcome


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
