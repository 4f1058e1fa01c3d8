"""Memory: whether it is archived, expired or superseded when it should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from controllers.engine.document_values import (
    duration,
    figure,
    later,
    moment,
    number,
    section,
    soonest,
    text,
)
from controllers.engine.explanation import explain
from controllers.engine.finding_text import listed, missed
from controllers.engine.target import Target
from controllers.engine.terms import Condition, Difference, Drift, Resource, Risk, Snapshot, Step

# A memory worth more than this is kept, whatever its retention says.
WORTH_KEEPING = 2.0
# States that satisfy each state that may be due.
_SATISFYING = {
    "archived": ("archived", "superseded", "expired"),
    "superseded": ("superseded", "expired"),
    "expired": ("expired",),
}


class _Change(NamedTuple):
    operation: str
    risk: Risk
    reversible: bool


_CHANGES: Mapping[str, _Change] = {
    "archived": _Change("archive-memory", "low", True),
    "superseded": _Change("supersede-memory", "low", True),
    "expired": _Change("expire-memory", "medium", False),
}


class _Schedule(NamedTuple):
    archive: datetime | None
    expiry: datetime | None

    def due(self, now: datetime) -> str:
        """Return the state its age asks for by now, if any."""
        if self.expiry and self.expiry <= now:
            return "expired"
        return "archived" if self.archive and self.archive <= now else ""


def _schedule(memory: Resource) -> _Schedule:
    """Return when a memory is to be archived and when it is to expire."""
    retention, created = section(memory.spec, "retention"), memory.created_at
    after, span = duration(retention.get("archiveAfter")), duration(retention.get("duration"))
    archive = later(created, after) if created and after else None
    if retention.get("autoExpire") is not True or _is_worth_keeping(memory):
        return _Schedule(archive, None)
    if created and span:
        return _Schedule(archive, later(created, span))
    return _Schedule(archive, moment(memory.status.get("expiresAt")))


def _is_worth_keeping(memory: Resource) -> bool:
    return (number(memory.status.get("compoundingValue")) or 0) > WORTH_KEEPING


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    return [*_retention(snapshot.target, now), *_lifecycle(snapshot)]


def _retention(memory: Resource, now: datetime) -> Iterator[Condition]:
    state, retention = text(memory.status.get("state")), memory.spec.get("retention")
    if not state or not isinstance(retention, dict):
        return
    schedule = _schedule(memory)
    due, message = schedule.due(now), f"It is {state}; {_plan(memory, schedule)}."
    if due and state not in _SATISFYING[due]:
        yield Condition("RetentionApplied", "False", f"Not{due.title()}", message)
    else:
        yield Condition("RetentionApplied", "True", "AsDeclared", message)


def _plan(memory: Resource, schedule: _Schedule) -> str:
    """Say what retention asks for, in dates."""
    archive, expiry = schedule
    words = [f"to be archived on {archive.date()}"] if archive else []
    words += [f"to expire on {expiry.date()}"] if expiry else []
    if _is_worth_keeping(memory):
        value = number(memory.status.get("compoundingValue")) or 0
        words += [f"its value of {figure(value)} keeps it from expiring"]
    return listed(words) or "it is to be kept"


def _superseding(snapshot: Snapshot) -> list[str]:
    """Return the memories that replace this one."""
    name = snapshot.target.name
    return [
        each.name
        for each in snapshot.of("Memory")
        if each.spec.get("supersedes") == name and each.name != name
    ]


def _lifecycle(snapshot: Snapshot) -> Iterator[Condition]:
    state = text(snapshot.target.status.get("state"))
    if not state:
        return
    newer = _superseding(snapshot)
    if not newer:
        yield Condition(
            "LifecycleInSync", "True", "InSync", f"It is {state}; nothing replaces it."
        )
        return
    message = f"It is {state}; {listed(newer)} replaces it."
    if state in _SATISFYING["superseded"]:
        yield Condition("LifecycleInSync", "True", "InSync", message)
    else:
        yield Condition("LifecycleInSync", "False", "NotSuperseded", message)


def _wanted(snapshot: Snapshot, now: datetime) -> str:
    """Return the state a memory should have by now; nothing if it has it, or reports none."""
    state, due = text(snapshot.target.status.get("state")), _schedule(snapshot.target).due(now)
    if due != "expired" and _superseding(snapshot):
        due = "superseded"
    return due if state and due and state not in _SATISFYING[due] else ""


def _fields(snapshot: Snapshot, now: datetime) -> Sequence[Difference]:
    wanted = _wanted(snapshot, now)
    if not wanted:
        return ()
    state = text(snapshot.target.status.get("state"))
    note = _note(snapshot, wanted)
    return (Difference("status.state", wanted, state, "stale", note),)


def _note(snapshot: Snapshot, wanted: str) -> str:
    memory = snapshot.target
    if wanted == "superseded":
        why = f"{listed(_superseding(snapshot))} replaces it"
    else:
        why = _plan(memory, _schedule(memory))
    return f"It is {text(memory.status.get('state'))}; {why}."


def _steps(snapshot: Snapshot, drift: Drift, now: datetime) -> Sequence[Step]:
    wanted = _wanted(snapshot, now)
    if not wanted or not (missed(drift, "field") or missed(drift, "health")):
        return ()
    return (_move(snapshot.target, wanted, _note(snapshot, wanted)),)


def _move(memory: Resource, wanted: str, why: str) -> Step:
    change, state = _CHANGES[wanted], text(memory.status.get("state"))
    back = {"memory": memory.name, "from": wanted, "to": state}
    undo = {"operation": "restore-memory", "parameters": back}
    return Step(
        operation=change.operation,
        parameters={"memory": memory.name, "from": state, "to": wanted},
        kind="change",
        risk=change.risk,
        reversible=change.reversible,
        why=f"{memory.name}: {why}",
        otherwise=f"Agents go on finding {memory.name} as {state}.",
        touches=("status.state",),
        rollback=undo if change.reversible else {},
        preconditions=(f"memory.status.state == '{state}'",),
    )


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    return soonest(_schedule(snapshot.target), now)


TARGET = Target(
    kind="Memory",
    reads=("Memory",),
    observations=_observations,
    fields=_fields,
    steps=_steps,
    explain=explain,
    recheck=_recheck,
)
