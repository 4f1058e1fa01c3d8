"""The strict reader: one verdict for every value, with the place it is about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.documents.kind import Fault
from resources.documents.reader import Unreadable, admit, read_json
from tests.rows import every_row

LONG = "x" * 65_536


def refused(data: bytes | str) -> list[Fault]:
    with pytest.raises(Unreadable) as caught:
        read_json(data)
    return caught.value.problems


def nested(depth: int) -> str:
    """A value inside that many lists."""
    return "[" * depth + "1" + "]" * depth


@every_row(
    ("text", "value"),
    [
        ('{"a": [1, true, null, "é"]}', {"a": [1, True, None, "é"]}),
        ("1.0", 1),
        ("1e3", 1000),
        ("-0.0", 0),
        ("1.50", 1.5),
        ("1e-3", 0.001),
        ("1000000000000000", 10**15),
        ("-1e15", -(10**15)),
        ('"\\ud83d\\ude00"', "😀"),
        ('{"": {"": 1}}', {"": {"": 1}}),
        (json.dumps(LONG), LONG),
    ],
)
def test_plain_json_is_read(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize("text", ["1.0", "1e3", "-0.0", "1E0", "100e-2"])
def test_an_integral_number_becomes_an_integer(text: str) -> None:
    assert type(read_json(text)) is int


def test_true_stays_true() -> None:
    assert read_json("[true, 1]")[0] is True


def test_a_byte_order_mark_is_dropped() -> None:
    assert read_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert read_json('\ufeff{"a": 1}') == {"a": 1}


@every_row(
    ("text", "pointer", "message"),
    [
        ('{"a": NaN}', "/a", "NaN"),
        ('{"a": [0, Infinity]}', "/a/1", "Infinity"),
        ('{"a": -Infinity}', "/a", "-Infinity"),
        ('{"a": 1e999}', "/a", "between"),
        ('{"a": 1000000000000001}', "/a", "between"),
        ('{"a": -1.1e15}', "/a", "between"),
        ('{"a": 1' + "0" * 40 + "}", "/a", "40 digits"),
        ('{"a": 0.' + "1" * 40 + "}", "/a", "40 digits"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "/a/b", "twice"),
        ('[{"b": 1, "b": 1}]', "/0/b", "twice"),
        ('{"a": ["\\u0000"]}', "/a/0", "NUL"),
        ('{"a\\u0000": 1}', "/a\\u0000", "NUL"),
        ('{"a": "\\ud800"}', "/a", "surrogate"),
        ('{"a": "\\udc00\\ud800"}', "/a", "surrogate"),
        ('{"\\ud800": 1}', "/\\ud800", "surrogate"),
        ('{"e\\u0301": 1}', "/e\u0301", "normal form C"),
        ('{"a/b": {"c~d": NaN}}', "/a~1b/c~0d", "NaN"),
        (json.dumps({"a": LONG + "x"}), "/a", "64 kB"),
        (json.dumps({"a": "é" * 32_769}), "/a", "64 kB"),
        (json.dumps({LONG + "x": 1}), "/" + "x" * 80, "64 kB"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_what_cannot_be_kept_is_refused_at_its_place(
    text: str, pointer: str, message: str
) -> None:
    problems = refused(text)

    assert [each.pointer for each in problems] == [pointer]
    assert message in problems[0].message


def test_depth_is_counted_from_the_outermost_container() -> None:
    assert read_json(nested(32))
    assert [each.pointer for each in refused(nested(33))] == ["/0" * 32]


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_absurd_depth_is_an_answer_not_a_crash(depth: int) -> None:
    assert "32 levels" in refused(nested(depth))[0].message
    assert "32 levels" in refused('{"a":' * depth + "1" + "}" * depth)[0].message


def test_keys_and_items_have_limits() -> None:
    assert len(read_json(json.dumps({str(n): n for n in range(5_000)}))) == 5_000
    assert len(read_json(json.dumps(list(range(10_000))))) == 10_000

    keys = refused(json.dumps({"a": {str(n): n for n in range(5_001)}}))
    items = refused(json.dumps({"a": [0] * 10_001}))

    assert [(each.pointer, "5,000 keys" in each.message) for each in keys] == [("/a", True)]
    assert [(each.pointer, "10,000 items" in each.message) for each in items] == [("/a", True)]


def test_a_document_has_a_limited_number_of_values() -> None:
    problems = refused(json.dumps([[0] * 9_999] * 11))

    assert len(problems) == 1
    assert problems[0].pointer == "/9/9998"
    assert "100,000" in problems[0].message


def test_every_reason_is_given_at_once_up_to_fifty() -> None:
    several = refused('{"a": NaN, "b": "\\u0000", "c": {"d": 1e99}}')
    many = refused("[" + ",".join(["NaN"] * 200) + "]")

    assert [each.pointer for each in several] == ["/a", "/b", "/c/d"]
    assert len(many) == 50


@every_row(
    ("data", "message"),
    [
        (b'{"a": "\xff"}', "not UTF-8: byte 7"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8: byte 0"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        ('{"a": 1,}', "line 1, column"),
        ('{\n"a": tru}', "line 2, column 6"),
        ("", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ('{"a": 1} 2', "not JSON"),
        ("[01]", "not JSON"),
        ('["\t"]', "not JSON"),
        ("// no\n1", "not JSON"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(data: bytes | str, message: str) -> None:
    problems = refused(data)

    assert [each.pointer for each in problems] == [""]
    assert message in problems[0].message


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_text_gets_an_answer(data: bytes | str) -> None:
    try:
        value = read_json(data)
    except Unreadable:
        return

    assert admit(value) == value
