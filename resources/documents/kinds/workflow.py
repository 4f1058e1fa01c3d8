"""Workflow: steps of several agents, in order, with a way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter

from resources.documents.expressions import read_condition
from resources.documents.expressions.syntax import Invalid
from resources.documents.kind import Document, Fault, Kind, Link, conditions
from resources.documents.paths import at, rename, texts
from resources.documents.schedules import SCHEDULE_HINT, next_ever, parse

# Any moment will do: a day either comes back or never comes.
_SOME_TIME = datetime(2026, 1, 1, tzinfo=UTC)


def _checks(document: Document) -> Iterator[Fault]:
    steps = [(pointer, name) for pointer, name in texts(document, "spec.steps[].name")]
    names = {name for _, name in steps}
    yield from _twice(steps)
    yield from _strangers(document, "spec.compensation[].step", names, "12")
    yield from _strangers(document, "spec.steps[].dependsOn[]", names, "13")
    yield from _circles(document, names)
    yield from _untimely(document)
    yield from _unclear(document)


def _untimely(document: Document) -> Iterator[Fault]:
    """A schedule that nobody can read, or whose day never comes, would start nothing."""
    for pointer, written in texts(document, "spec.trigger.schedule"):
        schedule = parse(written)
        if schedule is None:
            yield Fault(pointer, SCHEDULE_HINT)
        elif next_ever(schedule, _SOME_TIME) is None:
            yield Fault(pointer, "must name a day that comes")


def _unclear(document: Document) -> Iterator[Fault]:
    for pointer, written in texts(document, "spec.trigger.condition"):
        try:
            doubts = read_condition(written).warnings
        except Invalid as error:
            yield Fault(pointer, str(error))
            continue
        yield from (Fault(pointer, each, "warning") for each in doubts)


def _twice(steps: list[tuple[str, str]]) -> Iterator[Fault]:
    seen: set[str] = set()
    for pointer, name in steps:
        if name in seen:
            yield Fault(pointer, f'must be unique: another step is "{name}"', rule="13")
        seen.add(name)


def _strangers(document: Document, path: str, names: set[str], rule: str) -> Iterator[Fault]:
    for pointer, name in texts(document, path):
        if name not in names:
            yield Fault(pointer, f'must name a step of this workflow; "{name}" is none', rule=rule)


def _circles(document: Document, names: set[str]) -> Iterator[Fault]:
    """A step runs only if every step before it can run, starting from those that wait for none."""
    waits: dict[str, set[str]] = {name: set() for name in names}
    places: dict[str, str] = {}
    for pointer, step in at(document, "spec.steps[]"):
        for _, name in texts(step, "name"):
            waits[name] |= {before for _, before in texts(step, "dependsOn[]")} & names
            places[name] = f"{pointer}/dependsOn"
    stuck = names - _runnable(waits)
    if names and stuck == names:
        yield Fault("/spec/steps", "must have a step that depends on no other", rule="13")
    for name in sorted(stuck):
        yield Fault(places[name], "must not go round in a circle: the step never runs", rule="13")


def _runnable(waits: dict[str, set[str]]) -> set[str]:
    sorter = TopologicalSorter(waits)
    with suppress(CycleError):
        sorter.prepare()
    runnable: set[str] = set()
    while ready := sorter.get_ready():
        runnable.update(ready)
        sorter.done(*ready)
    return runnable


def _tolerate(document: Document) -> None:
    rename(document, "status.costAccumulated.value", "cost")


KIND = Kind(
    name="Workflow",
    path="workflow",
    folder="workflows",
    title="Workflow",
    plural="Workflows",
    icon="workflow",
    order=6,
    own_conditions=conditions(
        WithinTimeout="Its run has not lasted longer than declared.",
        RetriesWithinPolicy="It has retried no more often than its steps allow.",
        StepsHealthy="None of its steps has failed.",
        BudgetHealthy="Spending of the domains involved is within budget.",
    ),
    domain_path="spec.domainsInvolved[]",
    links=(
        Link("spec.domainsInvolved[]", "Domain", "error", "5"),
        Link("spec.steps[].agent", "Agent", "error", "6"),
        Link("spec.compensation[].agent", "Agent", "error", "12"),
        Link("spec.trigger.event", "event", "info", "20"),
    ),
    nullable=("status.completedAt",),
    own_checks=_checks,
    tolerate=_tolerate,
)
