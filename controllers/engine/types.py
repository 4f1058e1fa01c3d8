"""The words the five phases exchange: frozen values, and nothing that can act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

Document = Mapping[str, Any]
Mode = Literal["observe", "advise", "warn", "enforce"]
Word = Literal["True", "False", "Unknown"]
Severity = Literal["info", "warning", "error", "critical"]
Urgency = Literal["none", "low", "medium", "high", "critical"]
Class = Literal["record", "notify", "change", "block"]
Risk = Literal["low", "medium", "high"]
Disposition = Literal["run", "ask", "recommend", "record"]
Result = Literal["success", "failure", "skipped", "planned"]
Verdict = Literal["met", "missed", "unknown"]
State = Literal["healthy", "settling", "drifted", "unknown", "held", "parked"]

DIMENSIONS = ("kpi", "health", "budget", "security", "field")
WEIGHTS: Mapping[str, float] = {
    "kpi": 0.3,
    "health": 0.3,
    "budget": 0.2,
    "security": 0.2,
    "field": 0.0,
}
THRESHOLD = 0.15
PLACES = 6


class Condition(NamedTuple):
    """One statement about a resource; `managed_by` names the controller that wrote it."""

    type: str
    status: Word
    reason: str = ""
    message: str = ""
    managed_by: str = ""
    extra: Document = {}


class Resource(NamedTuple):
    """A resource as WATCH read it; `key` is its row, `version` its resource version."""

    key: int
    uid: str
    kind: str
    name: str
    domain: str
    generation: int
    version: int
    labels: Mapping[str, str]
    spec: Document
    status: Document
    conditions: tuple[Condition, ...] = ()
    created_at: datetime | None = None
    reported_at: datetime | None = None

    def __hash__(self) -> int:
        """Hash what names its content, which itself cannot be hashed."""
        return hash((self.key, self.version))

    @property
    def ref(self) -> str:
        """The resource as the specification writes a target: `domain/product`."""
        return f"{self.kind.lower()}/{self.name}"


class Snapshot(NamedTuple):
    """What WATCH read for one target: itself, what it is measured against, and what is missing."""

    target: Resource
    related: Mapping[str, tuple[Resource, ...]] = {}
    missing: tuple[str, ...] = ()
    # The controllers that declared it anew since it was last judged, if nobody else did.
    changed_by: tuple[str, ...] = ()

    def of(self, kind: str) -> tuple[Resource, ...]:
        """Return the related resources of a kind."""
        return self.related.get(kind, ())

    @property
    def basis(self) -> str:
        """The declarations a judgement rests on besides its target's own."""
        return ",".join(
            f"{each.key}:{each.generation}" for group in self.related.values() for each in group
        )


class Reading(NamedTuple):
    """A KPI: what is wanted and what was measured; without a value it is unknown."""

    name: str
    operator: str
    target: float | None
    value: float | None
    unit: str = ""
    at: str = ""
    by: str = ""
    note: str = ""


class Spend(NamedTuple):
    """Consumption against one limit."""

    name: str
    consumed: float
    allocated: float
    unit: str = ""


class Compliance(NamedTuple):
    """A policy's open violations against the number of its rules."""

    policy: str
    violations: float
    rules: int


class Difference(NamedTuple):
    """A field that is not as declared; `category` is one of the five of a comparison."""

    path: str
    desired: Any
    observed: Any
    category: Literal["missing", "unwanted", "drifted", "unmanaged", "stale", "orphan"] = "drifted"
    note: str = ""


class Evidence(NamedTuple):
    """One thing a dimension looked at, and how it stands."""

    subject: str
    verdict: Verdict
    desired: Any = None
    observed: Any = None
    at: str = ""
    by: str = ""
    note: str = ""


class Dimension(NamedTuple):
    """One dimension of drift: its share of the score, clamped to 0..1, and what it rests on.

    It looked at `of` things. The evidence names those that are missed or unknown: most things are
    well, and whoever looks at a hundred thousand resources must not write down each.
    """

    name: str
    score: float | None
    raw: float | None = None
    evidence: tuple[Evidence, ...] = ()
    of: int = 0


class Drift(NamedTuple):
    """How far a resource is from what is declared; without a score nothing is known."""

    score: float | None
    drifted: bool
    dimensions: tuple[Dimension, ...]
    differences: tuple[Difference, ...] = ()
    # What made it drifted: "score", or the dimensions that passed their own limits.
    causes: tuple[str, ...] = ()
    urgency: Urgency = "none"

    def of(self, name: str) -> Dimension | None:
        """Return one dimension, if it was measured."""
        return next((each for each in self.dimensions if each.name == name), None)


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
    disposition: Disposition = "record"


class HookResult(NamedTuple):
    """What a hook said: true, false, or None when it could not be known."""

    name: str
    action: str
    passed: bool | None
    reason: str = ""
    observed: Document = {}


class Outcome(NamedTuple):
    """What became of one action."""

    action: Action
    result: Result
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """An action as a controller's spec declares it."""

    type: str
    operation: str = ""
    severity: Severity = "info"
    channels: tuple[str, ...] = ()
    strategy: str = "gradual"
    reason: str = ""
    parameters: Document = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hook:
    """A compiled hook: one of `check`, `refresh` and `event`; with none of them it is skipped."""

    name: str
    action: str
    check: Callable[[Document], tuple[bool | None, Document]] | None = None
    # The kinds of resources a check reads, besides its target.
    reads: frozenset[str] = frozenset()
    refresh: tuple[str, ...] = ()
    event: str = ""
    fail_open: bool = False
    # Why it cannot be used, in one sentence; it then never passes.
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """When convergence ends: bounds of an episode, and the breaker of a controller."""

    iterations: int = 10
    deadline: timedelta = timedelta(hours=24)
    settling: timedelta = timedelta(0)
    regressions: int = 3
    errors: int = 5


@dataclass(frozen=True, slots=True)
class Controller:
    """A Controller document, read once: everything a cycle asks of it."""

    key: int
    uid: str
    name: str
    generation: int
    kind: str
    labels: Mapping[str, str]
    interval: timedelta
    mode: Mode
    threshold: float = THRESHOLD
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    dimension_thresholds: Mapping[str, float] = field(default_factory=dict)
    aggregation: Literal["weighted", "max"] = "weighted"
    missing_kpi: Literal["ignore", "fail"] = "ignore"
    ignored: tuple[str, ...] = ()
    on_drift: tuple[Template, ...] = ()
    on_error: tuple[Template, ...] = ()
    on_healthy: tuple[Template, ...] = ()
    before: tuple[Hook, ...] = ()
    after: tuple[Hook, ...] = ()
    approval: Literal["required", "auto"] = "required"
    runner: Literal["internal", "external"] = "internal"
    timeout: timedelta = timedelta(minutes=5)
    resync: timedelta | None = None
    stop_on_error: bool = False
    most_actions: int | None = None
    limits: Limits = field(default_factory=Limits)
    condition_type: str = ""

    @property
    def ref(self) -> str:
        """The controller as the owner of a condition or the actor of an event."""
        return f"controller/{self.name}"


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


class Judgement(NamedTuple):
    """What a controller last concluded about a resource."""

    resource: int
    generation: int
    version: int
    basis: str
    score: float | None
    drifted: bool
    status: Word
    reason: str
    message: str
    urgency: Urgency
    dimensions: Document
    evidence: tuple[Document, ...]
    since: datetime
    evaluated_at: datetime
    recheck_at: datetime | None = None
    episode: Episode = Episode()
    plan: str = ""


class Event(NamedTuple):
    """Something to tell the ledger, in the seed's spelling."""

    name: str
    subject: str
    payload: Document
    category: str = "audit"
    severity: Severity = "info"


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


class Case(NamedTuple):
    """One resource after all five phases: what to store, to say and to do next.

    What was read of it is not kept, save in the plan of one that drifted: a chunk of documents is
    more than a processor has at hand.
    """

    ref: str
    judgement: Judgement
    # Whether the judgement says anything the stored one does not.
    changed: bool
    # Whether the score moved, so that the history gains a point.
    moved: bool
    # Whether it says the same as before about another version.
    renewed: bool = False
    condition: Condition | None = None
    events: tuple[Event, ...] = ()
    plan: Planned | None = None
    outcomes: tuple[Outcome, ...] = ()
    error: str = ""
    phase: str = ""
    # Why it must be looked at again without anything changing; retried with a growing delay.
    failure: Exception | None = None
