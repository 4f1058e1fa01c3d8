"""A Controller document, read once into what a cycle asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, get_args

from controllers.engine import due_times, targets
from controllers.engine.drift import WEIGHTS
from controllers.engine.errors import Permanent
from controllers.engine.hooks import compile_hook
from controllers.engine.terms import (
    THRESHOLD,
    Bar,
    Controller,
    Document,
    Hook,
    Limits,
    Mode,
    Resource,
    Severity,
    Template,
)
from resources.documents import kinds
from resources.documents.durations import CONTINUOUS, PERMANENT, parse_duration

TIMEOUT = timedelta(minutes=5)
USUAL = Limits()
EARNED = timedelta(days=90)
SEVERITIES = get_args(Severity)
MODES = get_args(Mode)
DECLARED = {"type", "operation", "severity", "level", "channels", "strategy", "reason"}


class Invalid(Permanent):
    """The document cannot be run; the message says why."""


def read(resource: Resource) -> Controller:
    """Compile a Controller document, or say why it cannot be run."""
    spec = resource.spec
    kind = kinds.by_name(str(spec.get("targetKind")))
    if kind is None or not kind.targetable:
        raise Invalid(f"No controller can target {spec.get('targetKind')!r}.")
    interval = duration(spec.get("reconcileInterval"))
    if interval is None:
        raise Invalid(f"{spec.get('reconcileInterval')!r} is not an interval.")
    return Controller(
        key=resource.key,
        uid=resource.uid,
        name=resource.name,
        generation=resource.generation,
        kind=kind.name,
        labels=mapping(mapping(spec.get("targetSelector")).get("matchLabels")),
        interval=interval,
        mode=mode_of(spec),
        approval="auto" if spec.get("approval") == "auto" else "required",
        earns=bar(mapping(spec.get("autonomy"))),
        runner="external" if spec.get("runner") == "external" else "internal",
        timeout=duration(spec.get("timeout")) or TIMEOUT,
        resync=duration(spec.get("resyncInterval")),
        stop_on_error=spec.get("stopOnError") is True,
        most_actions=whole(spec.get("maxActionsPerCycle"), 0) or None,
        skip_destructive=spec.get("skipDestructive") is True,
        rolls_back=spec.get("onFailure") == "rollback",
        staleness=duration(spec.get("maxStaleness")),
        window=window(spec.get("maintenanceWindow")),
        limits=limits(mapping(spec.get("convergence"))),
        condition_type=text(spec.get("conditionType")) or condition_type(resource.name),
        **drift(spec),
        **actions(mapping(spec.get("actions"))),
        **hooks(spec, kind.name),
    )


def mode_of(spec: Document) -> Mode:
    """Read how far the controller may go; without a word it warns."""
    given: Mode = spec.get("enforcementMode", "warn")
    return given if given in MODES else "warn"


def bar(declared: Document) -> Bar | None:
    """Read what a record has to show before a controller asks to act alone."""
    approvals = whole(declared.get("approvals"), 0)
    return Bar(approvals, duration(declared.get("within")) or EARNED) if approvals else None


def window(declared: Any) -> Callable[[datetime], bool] | None:
    """Read when changes may be made; without a window they always may."""
    if declared is None:
        return None
    given = mapping(declared)
    parts = (text(given.get(name)) for name in ("cron", "timezone", "duration"))
    read = due_times.window(*parts)
    if read is None:
        raise Invalid("spec.maintenanceWindow needs a cron, a timezone and a duration.")
    return partial(is_open, read)


def is_open(window: due_times.Window, now: datetime) -> bool:
    """Tell whether a window is open at a moment."""
    return due_times.opened(window, now) is not None


def drift(spec: Document) -> dict[str, Any]:
    """Read how drift is measured and when it counts."""
    given = mapping(spec.get("drift"))
    weights, own = mapping(given.get("weights")), mapping(given.get("dimensionThresholds"))
    return {
        "threshold": number(spec.get("driftThreshold"), THRESHOLD),
        "weights": {name: number(weights.get(name), usual) for name, usual in WEIGHTS.items()},
        "dimension_thresholds": {name: number(own[name], 1.0) for name in WEIGHTS if name in own},
        "aggregation": "max" if given.get("aggregation") == "max" else "weighted",
        "missing_kpi": "fail" if given.get("missingKpi") == "fail" else "ignore",
        "ignored": words(given.get("ignoreDifferences")),
    }


def actions(given: Document) -> dict[str, Any]:
    """Read the three lists of actions, each in its order."""
    names = {"on_drift": "onDrift", "on_error": "onError", "on_healthy": "onHealthy"}
    return {
        field: tuple(template(each) for each in sequence(given.get(name)))
        for field, name in names.items()
    }


def template(item: Any) -> Template:
    """Read one declared action."""
    given = mapping(item)
    severity: Any = given.get("severity") or given.get("level")
    return Template(
        type=text(given.get("type")) or "log",
        operation=text(given.get("operation")),
        severity=severity if severity in SEVERITIES else "info",
        channels=words(given.get("channels")),
        strategy="immediate" if given.get("strategy") == "immediate" else "gradual",
        reason=text(given.get("reason")),
        parameters={key: value for key, value in given.items() if key not in DECLARED},
    )


def hooks(spec: Document, kind: str) -> dict[str, Any]:
    """Compile the hooks of both sides."""
    given, mode = mapping(spec.get("hooks")), mode_of(spec)
    sides = {"before": "preReconcile", "after": "postReconcile"}
    policy = text(spec.get("failurePolicy"))
    return {
        field: tuple(
            usable(compile_hook(mapping(each), kind, mode, policy))
            for each in sequence(given.get(name))
        )
        for field, name in sides.items()
    }


def usable(hook: Hook) -> Hook:
    """Return a hook, unless it could only fail each time."""
    if hook.fault:
        raise Invalid(f"The hook {hook.name} cannot be used: it {hook.fault}.")
    return hook


def limits(given: Document) -> Limits:
    """Read when convergence ends."""
    return Limits(
        iterations=whole(given.get("maxIterations"), USUAL.iterations),
        deadline=duration(given.get("deadline")) or USUAL.deadline,
        settling=duration(given.get("settlingPeriod")) or USUAL.settling,
        regressions=whole(given.get("maxRegressions"), USUAL.regressions),
        errors=whole(given.get("errorLimit"), USUAL.errors),
    )


def condition_type(name: str) -> str:
    """Name the condition a controller writes, after itself: `BudgetGuardianConverged`."""
    return "".join(part.capitalize() for part in name.split("-")) + "Converged"


def duration(value: Any) -> timedelta | None:
    """Read a duration that a clock can wait for."""
    parsed = parse_duration(value) if isinstance(value, str) else None
    return parsed if parsed is not None and CONTINUOUS < parsed < PERMANENT else None


def number(value: Any, otherwise: float) -> float:
    """Read a number, or take the usual one."""
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return value if good else otherwise


def whole(value: Any, otherwise: int) -> int:
    """Read a positive whole number, or take the usual one."""
    good = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if good else otherwise


def text(value: Any) -> str:
    """Read a text, or nothing."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """Read an object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> list[Any]:
    """Read a list, or an empty one."""
    return value if isinstance(value, list) else []


def words(value: Any) -> tuple[str, ...]:
    """Read a list of texts; what is none is left out."""
    return tuple(each for each in sequence(value) if isinstance(each, str))


def reads(controller: Controller) -> frozenset[str]:
    """Return the kinds a controller's judgements rest on, besides its targets."""
    own = set(targets.by_kind(controller.kind).reads)
    for hook in (*controller.before, *controller.after):
        own |= hook.reads
    if any(each.type == "escalate" for each in controller.on_drift):
        own.add("Governance")
    return frozenset(own)
