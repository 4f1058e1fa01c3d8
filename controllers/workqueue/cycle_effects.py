"""What a cycle's actions do: people are told here; what changes things becomes a proposal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from controllers.engine.act import Traits
from controllers.engine.errors import Stopped, TimedOut
from controllers.engine.precedence import Standing
from controllers.engine.terms import Action, Controller, Event, Result, Ruling, Severity, Snapshot

Check = Callable[[], bool]
BEFORE = datetime.min.replace(tzinfo=UTC)


class Notice(NamedTuple):
    """Something people are to be told about one resource, on one channel."""

    resource: int
    reason: str
    channel: str
    severity: Severity
    message: str


def unremarkable(action: Action) -> Traits:
    """Know nothing of an action."""
    return Traits()


def never() -> bool:
    """Say that nobody asked to stop."""
    return False


@dataclass
class Effects:
    """The means of one cycle: its time, whether it was told to stop, and what it has to say.

    Nothing is sent from here. What is to be said is kept, and written together with what it is
    about.
    """

    controller: Controller
    stopping: Check = never
    # At a controller's first look people hear one sum, not one alert for each resource.
    first_look: bool = False
    deadline: float = field(init=False)
    changes: int = 0
    # What people said no to, as it stood when the chunk was read.
    holds: tuple[Standing, ...] = ()
    only_propose: bool = False
    # What was earned, as it stood when the cycle began.
    earned: frozenset[tuple[str, str]] = frozenset()
    now: datetime = BEFORE
    catalogue: Callable[[Action], Traits] = unremarkable
    notices: list[Notice] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    held_back: Counter[tuple[str, Severity]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.controller.timeout.total_seconds()

    def check(self) -> None:
        """End the cycle when its time is over or the process is to stop."""
        if self.stopping():
            raise Stopped("The process was asked to stop.")
        if time.monotonic() > self.deadline:
            seconds = self.controller.timeout.total_seconds()
            raise TimedOut(f"The cycle took longer than {seconds:g} seconds.")

    def traits(self, action: Action) -> Traits:
        """Say what the catalogue knows of an action."""
        return self.catalogue(action)

    def perform(self, action: Action, snapshot: Snapshot) -> Result:
        """Do what may be done without asking; a change is only planned."""
        if action.kind == "record":
            self.events.append(log(self.controller, action))
            return "success"
        if action.kind == "notify":
            self.tell(action, snapshot)
            return "success"
        return "planned"

    def drain(self) -> tuple[list[Notice], list[Event]]:
        """Hand over what was said since the last time."""
        said = self.notices, self.events
        self.notices, self.events = [], []
        return said

    def tell(self, action: Action, snapshot: Snapshot) -> None:
        """Keep what people are to be told, once for each channel."""
        for channel in receivers(action, snapshot):
            if self.first_look:
                self.held_back[channel, action.severity] += 1
            else:
                message = f"{action.target}: {action.why}"
                kept = Notice(snapshot.target.key, "Drift", channel, action.severity, message)
                self.notices.append(kept)

    def tell_instead(self, action: Action, snapshot: Snapshot, ruling: Ruling) -> None:
        """Keep what people are told of an action that is not done to such a target."""
        message = f"{action.target}: {ruling.reason} {action.why}"
        for channel in receivers(action, snapshot):
            kept = Notice(snapshot.target.key, ruling.code, channel, "warning", message)
            self.notices.append(kept)


class Looking(Effects):
    """Means that only look: every action is planned, none is performed."""

    def perform(self, action: Action, snapshot: Snapshot) -> Result:
        """Leave it at the plan."""
        return "planned"


def receivers(action: Action, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the channels of an action; an escalation goes the way its governance declares."""
    if action.type == "escalate":
        for governance in snapshot.of("Governance"):
            escalation = governance.spec.get("escalation") or {}
            paths = [path for path in escalation.get("paths") or () if path.get("channel")]
            if paths:
                return (str(min(paths, key=lambda path: path["level"])["channel"]),)
    return action.channels or ("",)


def log(controller: Controller, action: Action) -> Event:
    """Turn a log action into an event of its level."""
    payload = {"controllerName": controller.name, "target": action.target, "message": action.why}
    return Event("controller.logged", action.target, payload, "log", action.severity)
