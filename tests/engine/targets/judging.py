"""Make resources by hand or from the example, judge them, and hold targets to their laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

import resources
from controllers.engine import diff
from controllers.engine.drift import WEIGHTS
from controllers.engine.target import Target
from controllers.engine.terms import (
    Condition,
    Controller,
    Document,
    Drift,
    Resource,
    Snapshot,
    Step,
)
from resources.documents import kinds
from resources.documents.files import load_paths

NOW = datetime(2026, 11, 16, 0, 30, tzinfo=UTC)
EXAMPLE = Path(resources.__file__).parent / "example"
A_MOMENT = timedelta(microseconds=1)
ODDITIES: Sequence[Any] = (
    *(None, True, False, 0, -1, 10**400, -(10**400), 1e308, -1e308, 5e-324, 0.5),
    *("", "x", "permanent", "continuous", "9000y", "0001-01-01", "9999-12-31T23:59:59-14:00"),
    *([], {}, [None, [], {}], {"x": 1}, ["x", {"name": 7}]),
)


def resource(
    kind: str,
    name: str,
    spec: Document,
    status: Document | None = None,
    created: datetime | None = None,
) -> Resource:
    """Make a resource; its domain is where its spec says."""
    found = kinds.by_name(kind)
    domain = found.domain_of({"spec": dict(spec)}) if found else ""
    return Resource(
        key=1,
        uid=name,
        kind=kind,
        name=name,
        domain=domain,
        generation=1,
        version=1,
        labels={},
        spec=spec,
        status=status or {},
        created_at=created,
    )


def example(kind: str, name: str) -> Resource:
    """Take a resource of the example organisation, without the conditions it reports."""
    (loaded,) = load_paths([str(path) for path in EXAMPLE.glob(f"*/{name}.yaml")])
    document: Any = loaded.document
    status = {key: value for key, value in document["status"].items() if key != "conditions"}
    created = datetime.fromisoformat(document["metadata"]["createdAt"])
    return resource(kind, name, document["spec"], status, created)


def words(target: Target, snapshot: Snapshot, now: datetime = NOW) -> dict[str, str]:
    """Return what a target observes, as types and their statuses."""
    return {each.type: each.status for each in target.observations(snapshot, now)}


def observed(target: Target, snapshot: Snapshot, name: str, now: datetime = NOW) -> Condition:
    """Return one thing a target observes."""
    return next(each for each in target.observations(snapshot, now) if each.type == name)


def drift_of(target: Target, snapshot: Snapshot, now: datetime = NOW) -> Drift:
    """Measure a resource as a controller with the standard settings does."""
    controller = Controller(
        key=2,
        uid="c",
        name="c",
        generation=1,
        kind=target.kind,
        labels={},
        interval=timedelta(minutes=1),
        mode="warn",
        weights=WEIGHTS,
    )
    return diff.measure(controller, target, snapshot, now)


def steps_of(target: Target, snapshot: Snapshot, now: datetime = NOW) -> Sequence[Step]:
    """Return what a target proposes about a resource."""
    return target.steps(snapshot, drift_of(target, snapshot, now), now)


def any_document(keys: Sequence[str], values: Sequence[Any]) -> st.SearchStrategy[Document]:
    """Make any document from the words of a kind, and from values that do not belong there."""
    choices = [*values, *ODDITIES]
    return st.randoms(use_true_random=True).map(
        lambda chance: {
            key: _anything(chance, keys, choices, 3) for key in keys if chance.random() < 0.6
        }
    )


def _anything(chance: Random, keys: Sequence[str], values: Sequence[Any], depth: int) -> Any:
    form = chance.random()
    if depth == 0 or form < 0.4:
        return chance.choice(values)
    if form < 0.6:
        return [_anything(chance, keys, values, depth - 1) for _ in range(chance.randrange(3))]
    chosen = chance.sample(keys, min(len(keys), 4))
    return {key: _anything(chance, keys, values, depth - 1) for key in chosen}


def damaged(spec: Document, status: Document, *values: Any) -> st.SearchStrategy[Document]:
    """Put other values of the kind, and values that do not belong there, into a document."""
    whole = {"spec": spec, "status": status}
    change = st.tuples(st.sampled_from([*_paths(whole)]), st.sampled_from([*values, *ODDITIES]))
    return st.lists(change, max_size=6).map(lambda changes: _changed(whole, changes))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    children = value.items() if isinstance(value, dict) else ()
    for key, child in enumerate(value) if isinstance(value, list) else children:
        yield from _paths(child, (*path, key))


def _changed(whole: Document, changes: Sequence[tuple[tuple[Any, ...], Any]]) -> Document:
    copy: Any = deepcopy(whole)
    for (*parents, last), value in changes:
        holder = copy
        # An earlier change may have taken the place away.
        with suppress(KeyError, IndexError, TypeError):
            for key in parents:
                holder = holder[key]
            holder[last] = value
    return {name: part if isinstance(part, dict) else {} for name, part in copy.items()}


def holds_for_any_document(target: Target, snapshot: Snapshot) -> None:
    """Judge without raising, say why, and be right about when the clock changes something."""
    drift = drift_of(target, snapshot)
    assert drift.score is None or 0 <= drift.score <= 1
    assert target.explain(snapshot, drift)
    for step in target.steps(snapshot, drift, NOW):
        assert step.why
        assert step.otherwise
    next_look = target.recheck(snapshot, NOW)
    assert next_look is None or next_look > NOW
    until = next_look - A_MOMENT if next_look else datetime.max.replace(tzinfo=UTC)
    assert drift_of(target, snapshot, until) == drift
