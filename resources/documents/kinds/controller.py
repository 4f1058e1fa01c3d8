"""Controller: a loop that brings resources of one kind back to what is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from resources.documents.durations import DURATION_HINT, is_positive
from resources.documents.expressions import (
    Action,
    Check,
    Emit,
    Refresh,
    Unknown,
    action_of,
    read_action,
)
from resources.documents.expressions.syntax import Invalid
from resources.documents.kind import MODES, Document, Fault, Kind, conditions
from resources.documents.paths import at, objects, rename, texts
from resources.documents.weakening import as_loud, lost, rank, weaker

_ACTIONS = ("spec.actions.onDrift[]", "spec.actions.onError[]", "spec.actions.onHealthy[]")
# What hooks of each side can do.
_HOOKS = {
    "spec.hooks.preReconcile[]": (Check,),
    "spec.hooks.postReconcile[]": (Refresh, Emit),
}
_ACTION_TYPES = {"alert", "reconcile", "pause", "log", "escalate", "block"}
_LEVELS = {"info", "warning", "error", "critical"}
# Actions that tell people or stop something; the others change or note.
_GUARDING = ("alert", "escalate", "block", "pause")
_THRESHOLD = 0.15


def _checks(document: Document) -> Iterator[Fault]:
    for pointer, text in texts(document, "spec.reconcileInterval"):
        if not is_positive(text):
            yield Fault(pointer, f"{DURATION_HINT}, and longer than nothing")
    target_kind = next((name for _, name in texts(document, "spec.targetKind")), "")
    for path, verbs in _HOOKS.items():
        for pointer, hook in at(document, path):
            if isinstance(hook, dict):
                yield from _hook_problems(pointer, hook, target_kind, verbs)


def _hook_problems(
    pointer: str, hook: Document, target_kind: str, verbs: tuple[type, ...]
) -> Iterator[Fault]:
    field = "action" if "action" in hook else "event"
    if field not in hook:
        yield Fault(f"{pointer}/action", "is required, unless the hook has an event")
    if not isinstance(hook.get(field), str):
        return
    try:
        action = read_action(action_of(hook), target_kind)
    except Invalid as problem:
        yield Fault(f"{pointer}/{field}", str(problem))
        return
    if "event" in hook and action != Emit(hook["event"]):
        yield Fault(f"{pointer}/event", "is ignored, because the action counts", "warning")
    for message in _doubts(action, verbs):
        yield Fault(f"{pointer}/{field}", message, "warning")


def _doubts(action: Action, verbs: tuple[type, ...]) -> Iterator[str]:
    if isinstance(action, Unknown):
        yield f'has an unknown verb "{action.verb}"; the hook is skipped'
    elif not isinstance(action, verbs):
        yield "does nothing at this point of a cycle; the hook is skipped"
    if isinstance(action, Check):
        yield from action.warnings


def _tolerate(document: Document) -> None:
    rename(document, "status.lastReconciliation", "lastReconcile")
    for status in objects(document, "status"):
        if isinstance(status.get("actionsPerformed"), int | float):
            del status["actionsPerformed"]
    for path in _ACTIONS:
        for action in objects(document, path):
            _standard(action)


def _standard(action: Document) -> None:
    """An action that is none of the six is a way to reconcile, named in `operation`."""
    kind, level = action.get("type"), action.get("level")
    if isinstance(kind, str) and kind not in _ACTION_TYPES:
        action["type"] = "reconcile"
        action.setdefault("operation", kind)
    if isinstance(level, str) and level in _LEVELS:
        action.setdefault("severity", level)


def _complete(document: Document) -> None:
    for spec in objects(document, "spec"):
        spec.setdefault("targetSelector", {"matchLabels": {}})
        spec.setdefault("enforcementMode", "warn")
    for path in _HOOKS:
        for hook in objects(document, path):
            if "event" in hook:
                hook.setdefault("action", f"emit {hook['event']}")


def _lowered(before: Document, after: Document) -> Iterator[Fault]:
    """Say which guards a change weakens: the mode, the approval, a threshold, an alert rule."""
    yield from weaker(before, after, "spec.enforcementMode", rank(MODES, "warn"))
    yield from weaker(before, after, "spec.approval", rank(("auto", "required"), "required"))
    yield from weaker(before, after, "spec.autonomy.approvals", _bar)
    yield from weaker(before, after, "spec.driftThreshold", _sensitivity(_THRESHOLD))
    for name in sorted({*_limited(before), *_limited(after)}):
        path = f"spec.drift.dimensionThresholds.{name}"
        yield from weaker(before, after, path, _sensitivity(inf))
    for path in ("spec.actions.onDrift", "spec.actions.onError"):
        yield from lost(before, after, path, _kept)


def _bar(value: Any) -> float:
    """Measure a bar: the higher it is, the more it guards; without one nothing is ever earned."""
    return inf if value is None else value


def _limited(document: Document) -> Iterator[str]:
    """Yield the dimensions that have a threshold of their own."""
    for limits in objects(document, "spec.drift.dimensionThresholds"):
        yield from (name for name, value in limits.items() if isinstance(value, int | float))


def _sensitivity(usual: float) -> Callable[[Any], float]:
    """Measure a threshold: the lower it is, the more it guards."""
    return lambda value: -(value if isinstance(value, int | float) else usual)


def _kept(old: Document, new: Document) -> bool:
    """Tell whether an action that guards is still there, or that there was none to keep."""
    if old.get("type") not in _GUARDING:
        return True
    alike = all(old.get(name) == new.get(name) for name in ("type", "operation"))
    return alike and as_loud(old, new)


KIND = Kind(
    name="Controller",
    path="controller",
    folder="controllers",
    title="Controller",
    plural="Controllers",
    icon="refresh-cw",
    order=10,
    targetable=False,
    own_conditions=conditions(
        Ready="It can run its next cycle.",
        TargetsHealthy="Every resource it watches is converged.",
    ),
    domain_path="",
    own_checks=_checks,
    lowered=_lowered,
    tolerate=_tolerate,
    complete=_complete,
)
