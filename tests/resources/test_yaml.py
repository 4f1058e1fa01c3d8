"""YAML 1.2 core both ways, and text that a YAML 1.1 reader understands alike."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from resources.documents.kind import Fault
from resources.documents.reader import Unreadable, admit
from resources.documents.yaml_text import lines, read_all, read_yaml, write_all, write_yaml
from tests.resources.values import values
from tests.rows import every_row

# Texts that a YAML 1.1 reader takes for a number, a truth, a time or a command when unquoted.
AMBIGUOUS = st.one_of(
    st.sampled_from(
        [
            "y",
            "Y",
            "n",
            "N",
            "yes",
            "Yes",
            "NO",
            "no",
            "on",
            "Off",
            "off",
            "true",
            "False",
            "null",
            "~",
            "=",
            "<<",
            ".",
            "-",
            "?",
            ":",
        ]
    ),
    st.from_regex(r"\A[-+]?0b[01_]+\Z"),
    st.from_regex(r"\A[-+]?0[0-7_]+\Z"),
    st.from_regex(r"\A[-+]?0x[0-9a-fA-F_]+\Z"),
    st.from_regex(r"\A[-+]?(0|[1-9][0-9_]*)\Z"),
    st.from_regex(r"\A[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z"),
    st.from_regex(r"\A[-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?\Z"),
    st.from_regex(r"\A[-+]?\.[0-9][0-9_]*([eE][-+][0-9]+)?\Z"),
    st.from_regex(r"\A[-+]?\.(inf|Inf|INF|nan)\Z"),
    st.from_regex(r"\A[0-9]{4}-[01]?[0-9]-[0-3]?[0-9]([Tt ][0-9]{1,2}:[0-9]{2}:[0-9]{2}Z?)?\Z"),
)


def refused(text: str | bytes) -> Fault:
    with pytest.raises(Unreadable) as caught:
        read_all(text)
    assert len(caught.value.problems) == 1
    return caught.value.problems[0]


@every_row(
    ("text", "value"),
    [
        ("null", None),
        ("Null", None),
        ("~", None),
        ("", None),
        ("nULL", "nULL"),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x1F", "-0x1F"),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("1e3", 1000),
        ("1.0", 1),
        ("1.", 1),
        (".5", 0.5),
        ("-1.5e-3", -0.0015),
        ("1e", "1e"),
        (".", "."),
        ("2026-11-16", "2026-11-16"),
        ("2026-11-16T10:00:00Z", "2026-11-16T10:00:00Z"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("=", "="),
        ("a # note", "a"),
        ("a#b", "a#b"),
        (">-\n   a\n   b", "a b"),
        ("|\n   a\n   b\n", "a\nb\n"),
        ('"\\u00e9\\t"', "é\t"),
    ],
)
def test_scalars_follow_the_core_schema(text: str, value: Any) -> None:
    found = read_yaml(f"key: {text}")["key"]

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", [".inf", "-.INF", ".NaN", "1e999"])
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    assert refused(f"a: [{text}]").pointer == "/a/0"


@pytest.mark.parametrize("text", ["9" * 41, "0x" + "f" * 20, "0o" + "7" * 30, "0x10000000000000"])
def test_giant_numbers_are_refused(text: str) -> None:
    assert refused(f"a: {text}").pointer == "/a"


@every_row(
    ("text", "pointer", "message"),
    [
        ("a: !ruby/object x", "/a", "tag"),
        ("a: !!python/object:os.system x", "/a", "tag"),
        ("a: !!int '3'", "/a", "tag"),
        ("a: !!binary aGk=", "/a", "tag"),
        ("a: !!timestamp 2026-11-16", "/a", "tag"),
        ("!thing {a: 1}", "", "tag"),
        ("!thing a: 1", "", "tag"),
        ("a:\n  <<: {b: 1}", "/a", "Merge"),
        ("? [a, b]\n: 1", "", "plain text"),
        ("? {a: b}\n: 1", "", "plain text"),
        ("a: &x [1, *x]", "/a/1", "nothing above"),
        ("a: *x", "/a", "nothing above"),
        ("a: &x 1\n---\nb: *x", "/b", "nothing above"),
        ("a: 1\nb: 2\na: 3", "/a", "twice"),
        ("a: {b: 1, 'b': 2}", "/a/b", "twice"),
        ('a: ["\\0"]', "/a/0", "NUL"),
        ("a: [" * 40 + "1" + "]" * 40, "/a/0" * 16, "32 levels"),
    ],
)
def test_what_is_not_plain_data_is_refused_at_its_place(
    text: str, pointer: str, message: str
) -> None:
    problem = refused(text)

    assert problem.pointer == pointer
    assert message in problem.message


@every_row(
    ("text", "place"),
    [
        ("a: b: c", "line 1, column 5"),
        ("a: 1\nb: [1, 2\nc: 3", "line 3"),
        ("a: 1\n\tb: 2", "line 2"),
        ("a: 'open", "line 1"),
        ("ok: 1\n---\na: @x", "line 3, column 4"),
        ("a: \x01", "control characters"),
        ("a: \ud800", "surrogates"),
        (b"a: \xff", "not UTF-8"),
    ],
)
def test_what_is_not_yaml_is_refused_with_its_line(text: str | bytes, place: str) -> None:
    assert place in refused(text).message


def test_an_alias_stands_for_the_value_above() -> None:
    assert read_yaml("a: &x {b: [1]}\nc: *x") == {"a": {"b": [1]}, "c": {"b": [1]}}


def test_a_billion_laughs_end_early() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )

    assert "100,000" in refused(bomb).message


def test_an_alias_counts_with_its_own_depth() -> None:
    deep = "a: &x " + "[" * 20 + "]" * 20 + "\nb: " + "[" * 20 + "*x" + "]" * 20

    assert "32 levels" in refused(deep).message


def test_a_stream_holds_several_documents_and_empty_ones_do_not_count() -> None:
    text = "---\n# nothing\n---\na: 1\n...\n---\n- b\n---\n"

    assert read_all(text) == [{"a": 1}, ["b"]]
    assert [each[""] for each in lines(text)] == [4, 7]
    with pytest.raises(Unreadable, match="exactly one document here, not 2"):
        read_yaml(text)


def test_every_pointer_knows_the_line_of_its_key() -> None:
    text = "a: 1\nb:\n  - x\n  - c/d:\n      e: 2\n"

    assert lines(text) == [
        {"": 1, "/a": 1, "/b": 2, "/b/0": 3, "/b/1": 4, "/b/1/c~1d": 4, "/b/1/c~1d/e": 5}
    ]


@given(values())
@example("\n")
@example({"a": "x\n...\n"})
@example(["---", "...", "%YAML", "#", " lead", "trail ", "\ttab", "\x85", "\u2028", "\ufeff"])
@example({"k" * 200: "\r\n", "a\nb": [{}, [], ""]})
def test_what_is_written_reads_the_same(value: Any) -> None:
    expected = admit(value)

    assert read_all(write_yaml(expected)) == ([] if expected is None else [expected])


@given(st.lists(values().filter(lambda value: value is not None), max_size=4))
def test_a_written_stream_reads_the_same(documents: list[Any]) -> None:
    assert read_all(write_all(documents)) == [admit(each) for each in documents]


@given(AMBIGUOUS)
@example("-0b1")
@example("1_0.5E+3")
@example(".1_1e+3")
def test_ambiguous_text_stays_text_for_a_yaml_1_1_reader(text: str) -> None:
    written = write_yaml({"value": text, text: ["as a key"], "list": [text]})

    assert yaml.safe_load(written) == read_yaml(written)
    assert read_yaml(written)["value"] == text


@given(values())
@example(1e-7)
@example(1.5e-300)
def test_a_yaml_1_1_reader_sees_the_same_values(value: Any) -> None:
    document = {"value": admit(value)}

    assert yaml.safe_load(write_yaml(document)) == document


@given(st.binary(max_size=60) | st.text("ab:-[]{}&*!|>'\"\n #?,%\t1\ud800", max_size=40))
def test_any_text_gets_an_answer(data: bytes | str) -> None:
    try:
        found = read_all(data)
    except Unreadable:
        return

    assert admit(found) == found
