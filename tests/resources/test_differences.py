"""What changed between two values, and merge patches."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from resources.documents.differences import Difference, compare, merge, same
from tests.resources.values import values
from tests.rows import every_row

NO_NULLS = st.recursive(
    st.booleans() | st.integers(-5, 5) | st.text("ab/~", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


@every_row(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, [Difference("/a", "replace", 1, True)]),
        ({"a": 0}, {"a": False}, [Difference("/a", "replace", 0, False)]),
        ({"a": 1}, {"a": 1, "b": None}, [Difference("/b", "add", None, None)]),
        ({"a": 1, "b": 2}, {"a": 1}, [Difference("/b", "remove", 2)]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [Difference("/a/b/1", "replace", 2, 3)]),
        ([1, 2, 3], [1], [Difference("/1", "remove", 2), Difference("/2", "remove", 3)]),
        ([], [{"x": 1}], [Difference("/0", "add", None, {"x": 1})]),
        ({"a": []}, {"a": {}}, [Difference("/a", "replace", [], {})]),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, [Difference("/a~1b/~0", "replace", 1, 2)]),
        ([True], [1], [Difference("/0", "replace", True, 1)]),
        ("x", None, [Difference("", "replace", "x", None)]),
    ],
)
def test_differences_name_place_and_values(
    before: Any, after: Any, expected: list[Difference]
) -> None:
    assert list(compare(before, after)) == expected


# The table of RFC 7396, appendix A.
@every_row(
    ("target", "patch", "result"),
    [
        ('{"a":"b"}', '{"a":"c"}', '{"a":"c"}'),
        ('{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'),
        ('{"a":"b"}', '{"a":null}', "{}"),
        ('{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'),
        ('{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'),
        ('{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'),
        ('{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'),
        ('{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'),
        ('["a","b"]', '["c","d"]', '["c","d"]'),
        ('{"a":"b"}', '["c"]', '["c"]'),
        ('{"a":"foo"}', "null", "null"),
        ('{"a":"foo"}', '"bar"', '"bar"'),
        ('{"e":null}', '{"a":1}', '{"e":null,"a":1}'),
        ("[1,2]", '{"a":"b","c":null}', '{"a":"b"}'),
        ("{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'),
    ],
)
def test_a_merge_patch_does_what_its_standard_says(target: str, patch: str, result: str) -> None:
    assert same(merge(json.loads(target), json.loads(patch)), json.loads(result))


def put(value: Any, steps: list[str], change: Difference) -> None:
    """Apply one difference, in place, as RFC 6902 would."""
    *parents, last = [step.replace("~1", "/").replace("~0", "~") for step in steps]
    for step in parents:
        value = value[int(step) if isinstance(value, list) else step]
    key: Any = int(last) if isinstance(value, list) else last
    if change.operation == "remove":
        del value[key]
    elif change.operation == "add" and isinstance(value, list):
        value.insert(key, change.after)
    else:
        value[key] = change.after


def patched(before: Any, differences: list[Difference]) -> Any:
    """Apply differences: removals last and from the back, so that places stay where they are."""
    holder = {"root": deepcopy(before)}
    removals = [each for each in differences if each.operation == "remove"]
    others = [each for each in differences if each.operation != "remove"]
    for each in (*others, *reversed(removals)):
        put(holder, ["root", *each.pointer.split("/")[1:]], each)
    return holder["root"]


@given(NO_NULLS | values(), NO_NULLS | values())
def test_applying_the_differences_gives_the_newer_value(before: Any, after: Any) -> None:
    assert same(patched(before, list(compare(before, after))), after)


@given(values(), values())
def test_there_are_differences_exactly_when_two_values_are_not_the_same(
    left: Any, right: Any
) -> None:
    assert (not list(compare(left, right))) == same(left, right)
    assert same(left, right) == same(right, left)
    assert same(left, deepcopy(left))


@given(values(), values())
def test_a_merge_changes_nothing_in_place_and_is_idempotent(target: Any, patch: Any) -> None:
    kept = deepcopy((target, patch))

    once = merge(target, patch)
    twice = merge(once, patch)

    assert same(once, twice)
    assert same(list(kept), [target, patch])
