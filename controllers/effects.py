"""What actions do in the world. Telling people happens here; changing things waits for people."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from controllers.engine.errors import Stopped, TimedOut
from controllers.engine.types import Action, Controller, Event, Result, Severity, Snapshot

Check = Callable[[], bool]


class Notice(NamedTuple):
    """Something people are to be told about one resource, on one channel."""

    resource: int
    reason: str
    channel: str
    severity: Severity
    message: str


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
