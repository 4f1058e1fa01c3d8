"""What a controller declares, ready to be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from controllers.engine.terms.measurements import THRESHOLD
from controllers.engine.terms.readings import Document

Mode = Literal["observe", "advise", "warn", "enforce"]
Severity = Literal["info", "warning", "error", "critical"]


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


class Bar(NamedTuple):
    """How many approvals in a row, and within which time, earn the right to act alone."""

    approvals: int
    within: timedelta


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
    # What each dimension of drift weighs, by its name.
    weights: Mapping[str, float]
    threshold: float = THRESHOLD
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
    # What a record has to show before it asks to act alone; without a bar it never does.
    earns: Bar | None = None
    runner: Literal["internal", "external"] = "internal"
    timeout: timedelta = timedelta(minutes=5)
    resync: timedelta | None = None
    stop_on_error: bool = False
    most_actions: int | None = None
    skip_destructive: bool = False
    # Whether a plan that fails half way is undone.
    rolls_back: bool = False
    # When changes may be made; without one always.
    window: Callable[[datetime], bool] | None = None
    # Reports older than this are too old to act on.
    staleness: timedelta | None = None
    limits: Limits = field(default_factory=Limits)
    condition_type: str = ""

    @property
    def ref(self) -> str:
        """The controller as the owner of a condition or the actor of an event."""
        return f"controller/{self.name}"
