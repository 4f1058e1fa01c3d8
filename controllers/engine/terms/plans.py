"""What is planned and done about a resource, and how its drift goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from controllers.engine.terms.declarations import Severity
from controllers.engine.terms.measurements import Drift
from controllers.engine.terms.readings import Document, Snapshot

Class = Literal["record", "notify", "change", "block"]
Risk = Literal["low", "medium", "high"]
# What becomes of an action: done, asked of people, offered to them, noted, told instead of done,
# done later, or not done.
Disposition = Literal["run", "ask", "recommend", "record", "notify", "schedule", "refuse"]
Result = Literal["success", "failure", "skipped", "planned"]
State = Literal["healthy", "settling", "drifted", "unknown", "held", "parked"]


class Step(NamedTuple):
    """An operation that would close a gap, as a target's module proposes it."""

    operation: str
    parameters: Document
    kind: Class
    risk: Risk
    reversible: bool
    why: str
    otherwise: str
    # Field paths it would change, for "who changes what".
    touches: tuple[str, ...] = ()
    rollback: Document = {}
    preconditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """One planned step: what it does, how risky it is, why, and what follows without it."""

    sequence: int
    type: str
    operation: str
    kind: Class
    target: str
    parameters: Document = field(default_factory=dict)
    severity: Severity = "info"
    channels: tuple[str, ...] = ()
    strategy: str = ""
    risk: Risk = "low"
    reversible: bool = True
    why: str = ""
    otherwise: str = ""
    touches: tuple[str, ...] = ()
    rollback: Document = field(default_factory=dict)
    preconditions: tuple[str, ...] = ()


class HookResult(NamedTuple):
    """What a hook said: true, false, or None when it could not be known."""

    name: str
    action: str
    passed: bool | None
    reason: str = ""
    observed: Document = {}


class Ruling(NamedTuple):
    """What the gate says of an action: a word, a code for programs, a sentence for people."""

    word: Disposition
    code: str
    reason: str
    # How many people have to approve, where it is asked.
    people: int = 0
    # The hold that stands in the way.
    hold: int | None = None


class Outcome(NamedTuple):
    """What became of one action."""

    action: Action
    result: Result
    reason: str = ""
    verdict: Ruling | None = None


class Episode(NamedTuple):
    """The history of one drift of one resource under one controller, until it ends."""

    state: Literal[
        "converged", "drifting", "converging", "settling", "thrashing", "exhausted", "unknown"
    ] = "converged"
    since: datetime | None = None
    iterations: int = 0
    regressions: int = 0
    relapses: int = 0
    errors: int = 0
    best: float | None = None
    settled_at: datetime | None = None
    acted: str = ""
    failed: bool = False
    reason: str = ""
    # The action that was last performed, to recognise a relapse.
    tried: str = ""
    # The controller that undid what was done, once that ended the episode.
    rival: str = ""

    @property
    def parked(self) -> bool:
        """Whether only a person or a new generation gets it going again."""
        return self.state in ("thrashing", "exhausted")


class Planned(NamedTuple):
    """What a controller means to do about one resource, and why."""

    snapshot: Snapshot
    drift: Drift
    state: State
    basis: str
    episode: Episode
    actions: tuple[Action, ...] = ()
    hooks: tuple[HookResult, ...] = ()
    explanation: str = ""
    # Whether people have not heard of this drift yet, or not of how bad it has become.
    news: bool = False
    digest: str = ""
