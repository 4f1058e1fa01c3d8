"""What the control plane does by itself: it declares, and keeps what was there before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q

from controllers import operations
from controllers.decisions import autonomy, holds
from controllers.engine import precedence
from controllers.engine.gate import CODES
from controllers.engine.precedence import Reach
from controllers.engine.terms import Ruling
from controllers.execution import moves, steps
from controllers.execution.authority import Authority
from controllers.execution.steps import Task
from controllers.models import Proposal, Step
from controllers.operations import Impossible
from controllers.operations.catalogue.autonomy import GRANT
from controllers.workflows import runs
from resources.observability import metrics
from resources.store import store
from resources.tables.models import Resource


class Touched(NamedTuple):
    """A field of a resource that is written."""

    kind: str
    name: str
    path: str


class EffectTarget(NamedTuple):
    """A resource that an effect reaches, in the order in which everybody locks them."""

    domain: str
    resource: int


def perform(proposal: Proposal, task: Task, given: Authority, now: datetime) -> None:
    """Do one step in the control plane, in the transaction that decided it."""
    try:
        before = effect(proposal, task, given, now)
    except Impossible as error:
        step = steps.begin(proposal, task, Step.State.FAILED, given, now)
        steps.change(step, error=str(error), ended_at=now)
        transaction.on_commit(metrics.DONE.labels(task.hand.executor, "failed").inc)
        raise
    step = steps.begin(proposal, task, Step.State.DONE, given, now)
    proposal.resource.refresh_from_db()
    left = {"generation": proposal.resource.generation}
    steps.change(step, before=before, result=left, ended_at=now)
    transaction.on_commit(metrics.DONE.labels(task.hand.executor, "done").inc)


def effect(
    proposal: Proposal, task: Task, given: Authority, now: datetime
) -> list[dict[str, Any]]:
    """Change what is declared, or take it back; return what was there before."""
    actor, enough = moves.author(proposal), lowers_guards(given)
    if task.undoes is None:
        operation = known(task.operation)
        if operation.name == GRANT:
            autonomy.grant(proposal, task.parameters, now)
            return []
        if operation.on_runs:
            runs.carry_out(proposal, operation.name, task.parameters, actor, now)
            return []
        return operations.perform(
            operation,
            proposal.resource,
            task.parameters,
            actor=actor,
            now=now,
            authorised=enough,
        )
    if task.undoes.operation == GRANT:
        autonomy.take_back(proposal, actor, now)
    before = operations.undo(task.undoes.before, actor=actor, now=now, authorised=enough)
    steps.change(task.undoes, state=Step.State.UNDONE)
    return before


def lowers_guards(given: Authority) -> bool:
    """Tell whether enough people stand behind a step to lower a guard by it."""
    return len(given) > 1 or any(each["answer"] == "break_glass" for each in given)


def known(name: str) -> operations.Operation:
    """Return an operation of the catalogue."""
    operation = operations.find(name)
    if operation is None:
        raise Impossible(f"Nobody here knows how to {name}.")
    return operation


def places(proposal: Proposal, now: datetime) -> list[EffectTarget]:
    """Return what an effect reaches: the target, and what else its operations change."""
    found = {EffectTarget(proposal.resource.domain, proposal.resource_id)}
    return sorted(
        found.union(EffectTarget(row.domain, row.pk) for row, _ in others(proposal, now))
    )


def in_the_way(proposal: Proposal, locked: Iterable[EffectTarget], now: datetime) -> Ruling | None:
    """Return why another resource that would be changed must not be, if a person says so."""
    reached, kept = others(proposal, now), set(locked)
    standing = holds.standing(now) if reached else ()
    for row, paths in reached:
        if EffectTarget(row.domain, row.pk) not in kept:
            raise store.Stale("It reaches more than it did when it was looked at.")
        reach = Reach(row.pk, row.domain, proposal.controller_id, paths)
        hold = precedence.strongest(standing, reach)
        if hold is not None:
            said = f"{row}: {precedence.sentence(hold)}"
            return Ruling("refuse", CODES[hold.kind], said, hold=hold.key)
    return None


def others(proposal: Proposal, now: datetime) -> list[tuple[Resource, tuple[str, ...]]]:
    """Return the resources besides the target that would be changed, and which fields of them."""
    paths: dict[tuple[str, str], list[str]] = defaultdict(list)
    target = (proposal.resource.kind, proposal.resource.name)
    for each in touched(proposal, now):
        if each[:2] != target:
            paths[each.kind, each.name].append(each.path)
    if not paths:
        return []
    names: dict[str, list[str]] = defaultdict(list)
    for kind, name in paths:
        names[kind].append(name)
    wanted = Q()
    for kind, listed in names.items():
        wanted |= Q(kind=kind, name__in=listed)
    rows = Resource.objects.filter(wanted, deleted_at=None).order_by("pk")
    return [(row, tuple(paths[row.kind, row.name])) for row in rows]


def touched(proposal: Proposal, now: datetime) -> Iterator[Touched]:
    """Yield the fields that the control plane would write for a proposal."""
    # What cannot be done at all is said when it is tried.
    with suppress(Impossible):
        for task in steps.remaining(proposal):
            if task.undoes is not None:
                yield from (
                    Touched(each["kind"], each["name"], each["path"])
                    for each in task.undoes.before
                )
            elif task.hand.executor == "control-plane" and not known(task.operation).on_runs:
                planned = operations.plan(
                    known(task.operation), proposal.resource, task.parameters, now=now
                )
                yield from (Touched(each.kind, each.name, each.path) for each in planned)
