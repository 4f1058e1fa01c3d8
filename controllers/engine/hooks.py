"""Hooks: checks before a plan, and what to refresh and to emit after a cycle."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from math import prod
from typing import Any, NamedTuple

from controllers.engine.programs import Ask, compile_condition
from controllers.engine.terms import (
    Controller,
    Document,
    Drift,
    Hook,
    HookResult,
    Mode,
    Resource,
    Snapshot,
)
from resources.documents import kinds
from resources.documents.expressions import Check, Emit, Refresh, action_of, read_action
from resources.documents.expressions.syntax import KINDS, Invalid

# Why nothing is planned for a resource whose hooks do not hold.
HOOK_FAILED = "HookFailed"
# Beyond so many combinations of related resources a check is not decided.
MOST_COMBINATIONS = 10_000

_COMPLETED = "controller.reconciliation_completed"
_ROOTS = {kind: root for root, kind in KINDS.items()}
_WORST_FIRST = (False, None, True)


def compile_hook(document: Document, target_kind: str, mode: Mode, default_policy: str) -> Hook:
    """Read a hook once; one that cannot be used says why in its `fault`."""
    name, action = str(document.get("name", "")), action_of(document)
    policy = document.get("onFailure") or document.get("failurePolicy") or default_policy
    fail_open = policy == "failOpen" and mode != "enforce"
    try:
        return Hook(name, action, fail_open=fail_open, **_compiled(action, target_kind))
    except Invalid as problem:
        return Hook(name, action, fail_open=fail_open, fault=str(problem))


def run_before(
    controller: Controller, snapshot: Snapshot, drift: Drift, now: datetime
) -> tuple[HookResult, ...]:
    """Evaluate each hook that comes before a plan, in order."""
    return tuple(evaluate(hook, snapshot, controller, drift, now) for hook in controller.before)


def allows(results: Sequence[HookResult], hooks: Sequence[Hook]) -> bool:
    """Say whether a plan may follow: every hook passed, or may fail."""
    pairs = zip(results, hooks, strict=True)
    return all(result.passed or hook.fail_open for result, hook in pairs)


def evaluate(
    hook: Hook, snapshot: Snapshot, controller: Controller, drift: Drift, now: datetime
) -> HookResult:
    """Ask a hook about a target; where several resources are related, all of them must pass."""
    if hook.fault:
        return HookResult(hook.name, hook.action, None, "InvalidExpression")
    if hook.check is None:
        return HookResult(hook.name, hook.action, True, "Skipped")
    related = [snapshot.of(kind) for kind in sorted(hook.reads)]
    if not all(related):
        missing = {_ROOTS[kind]: None for kind in sorted(hook.reads) if not snapshot.of(kind)}
        return HookResult(hook.name, hook.action, None, "RefNotFound", missing)
    if prod(map(len, related)) > MOST_COMBINATIONS:
        return HookResult(hook.name, hook.action, None, "TooManyResources")
    situation = _Situation(snapshot, controller, drift, now)
    return min(
        [_asked(hook, hook.check, situation, chosen) for chosen in product(*related)],
        key=_badness,
    )


def refreshes(controller: Controller) -> tuple[tuple[str, ...], ...]:
    """Give the fields below a target's status that become the time at which the cycle ended."""
    return tuple(dict.fromkeys(hook.refresh for hook in controller.after if hook.refresh))


def emissions(controller: Controller) -> tuple[str, ...]:
    """Give the events to emit once a cycle, without the one that tells of its end anyway."""
    events = {_COMPLETED: ""}
    for hook in controller.after:
        events.setdefault(_spelling(hook.event), hook.event)
    return tuple(filter(None, events.values()))


def _compiled(action: str, target_kind: str) -> dict[str, Any]:
    match read_action(action, target_kind):
        case Check(condition):
            program = compile_condition(condition)
            read = {KINDS[root] for root in program.roots if root in KINDS}
            return {"check": program.check, "reads": frozenset(read - {target_kind})}
        case Refresh(steps):
            if not _may_hold_a_time(target_kind, steps):
                raise Invalid(f"must refresh a time, which {'.'.join(steps)} is not")
            return {"refresh": steps}
        case Emit(event):
            return {"event": event}
        case _:
            return {}


def _may_hold_a_time(target_kind: str, steps: Sequence[str]) -> bool:
    """Say whether the schema of a kind has a time there, or nothing against one."""
    kind = kinds.by_name(target_kind)
    if kind is None:
        return False
    definitions, node = kind.schema["$defs"], kind.schema["properties"]["status"]
    for step in steps:
        if step not in node.get("properties", ()):
            return bool(node.get("type") == "object")
        node = node["properties"][step]
        node = definitions[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    return bool(node.get("format") == "date-time")


class _Situation(NamedTuple):
    snapshot: Snapshot
    controller: Controller
    drift: Drift
    now: datetime


class _Context(dict[str, Any]):
    """What paths start with, each made when it is first asked for."""

    def __init__(self, situation: _Situation, chosen: Sequence[Resource]) -> None:
        self._situation = situation
        self._chosen = {_ROOTS[each.kind]: each for each in chosen}

    def __missing__(self, root: str) -> Any:
        snapshot, controller, drift, now = self._situation
        if root == "now":
            return now.isoformat()
        if root == "cycle":
            return _cycle(drift)
        if root == "controller":
            return _controller(controller)
        made = self[root] = _exposed(self._chosen.get(root, snapshot.target))
        return made


def _exposed(resource: Resource) -> Document:
    metadata = {
        "name": resource.name,
        "labels": resource.labels,
        "generation": resource.generation,
    }
    return {"metadata": metadata, "spec": resource.spec, "status": resource.status}


def _cycle(drift: Drift) -> Document:
    dimensions = {each.name: each.score for each in drift.dimensions}
    return {"score": drift.score, "dimensions": dimensions}


def _controller(controller: Controller) -> Document:
    spec = {
        "targetKind": controller.kind,
        "enforcementMode": controller.mode,
        "driftThreshold": controller.threshold,
    }
    metadata = {"name": controller.name, "generation": controller.generation}
    return {"metadata": metadata, "spec": spec}


def _asked(
    hook: Hook, check: Ask, situation: _Situation, chosen: Sequence[Resource]
) -> HookResult:
    passed, observed = check(_Context(situation, chosen))
    several = [each for each in chosen if len(situation.snapshot.of(each.kind)) > 1]
    if several:
        observed = {**{_ROOTS[each.kind]: each.ref for each in several}, **observed}
    return HookResult(hook.name, hook.action, passed, _reason(passed, observed), observed)


def _badness(result: HookResult) -> int:
    return _WORST_FIRST.index(result.passed)


def _reason(passed: bool | None, observed: Document) -> str:
    if passed is None:
        return "FieldMissing" if None in observed.values() else "NotDecidable"
    return "" if passed else "CheckFailed"


def _spelling(event: str) -> str:
    """Events of controllers have two names: `controller.a-b` and `system.controller_a_b`."""
    return event.replace("-", "_").replace("system.controller_", "controller.", 1)
