"""Laws that hold for any document at all."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from resources.documents import kinds
from resources.documents.kind import Document, Kind
from resources.documents.validation import check, cross_check
from tests.kinds.published import problems
from tests.kinds.samples import sample
from tests.tiers import examples


def words(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(words, value.values()))
    if isinstance(value, list):
        return set().union(*map(words, value))
    return {value} if isinstance(value, str) else set()


WORDS = sorted(set().union(*(words(sample(each.name)) | words(each.schema) for each in kinds.ALL)))
ODDITIES = ["", "*", "throttle", "2026-02-25T10:00:00", "5m", "≥ 9,000 €", "a/b~c", "ioa.dev/v0.1"]
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([*ODDITIES, *WORDS])
    | st.text(max_size=8)
)
names = st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=12,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value))
    inner = [
        each for key in keys if isinstance(value[key], dict | list) for each in places(value[key])
    ]
    return [*((value, key) for key in keys), *inner]


def near(value: Any) -> st.SearchStrategy[Any]:
    """Something a person might have written in its place."""
    if isinstance(value, str):
        return st.sampled_from([None, *ODDITIES, *WORDS])
    if isinstance(value, list):
        return st.sampled_from([None, [], value[:1], [*value, "text"], 3])
    if isinstance(value, dict):
        fewer = [{key: value[key] for key in value if key != gone} for gone in value]
        return st.sampled_from([None, {}, *fewer, "text"])
    return st.none() | st.integers(0, 3) | st.floats(0, 1)


@st.composite
def documents(draw: st.DrawFn, kind: Kind) -> Document:
    """A full document with a few places replaced, or something that only shares its kind."""
    if draw(st.integers(0, 4)) == 0:
        parts = {part: draw(values) for part in ("apiVersion", "metadata", "spec", "status")}
        return {"kind": kind.name, **parts}
    document = sample(kind.name)
    document["apiVersion"] = draw(st.sampled_from(["ioa.dev/v0.1", "ioa.dev/v0.2"]))
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(places(document)))
        holder[key] = draw(near(holder[key]) if draw(st.integers(0, 9)) else values)
    document["kind"] = kind.name
    return document


some_kind = st.sampled_from(kinds.ALL)
some_document = some_kind.flatmap(lambda kind: st.tuples(st.just(kind), documents(kind)))


@given(values)
def test_nothing_raises_on_any_value(value: Any) -> None:
    json.dumps([problem.message for problem in check(value)])

    cross_check([value], set())
    for kind in kinds.ALL:
        kind.publish(kind.upgrade(value))


@settings(max_examples=examples(400))
@given(some_document)
def test_upgrading_and_publishing_twice_is_the_same_as_once(pair: tuple[Kind, Document]) -> None:
    kind, document = pair

    upgraded = kind.upgrade(document)
    published = kind.publish(upgraded)

    assert kind.upgrade(upgraded) == upgraded
    assert kind.publish(published) == published
    assert kind.publish(document) == published


@settings(max_examples=examples(400))
@given(some_document)
def test_what_passes_our_check_is_published_validly(pair: tuple[Kind, Document]) -> None:
    kind, document = pair
    upgraded = kind.upgrade(document)

    if not any(problem.severity == "error" for problem in check(upgraded)):
        assert problems(kind.publish(upgraded)) == []


@given(some_document)
def test_reading_never_changes_a_document(pair: tuple[Kind, Document]) -> None:
    kind, document = pair
    before = deepcopy(document)

    check(document)
    cross_check([document], set())
    kind.publish(kind.upgrade(document))
    kind.domain_of(document)

    assert document == before


@given(some_document)
def test_every_problem_points_to_a_place_or_a_missing_field(pair: tuple[Kind, Document]) -> None:
    _, document = pair

    for problem in check(document):
        *parents, _ = problem.pointer.split("/")
        here: Any = document
        for part in parents[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            here = here[int(name) if isinstance(here, list) else name]
        assert problem.message
        assert problem.message[0].islower()
