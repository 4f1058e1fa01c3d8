"""Two texts side by side, as the table that stands without JavaScript."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from resources.templatetags import merge

LONG = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.mark.parametrize(
    ("left", "right", "changes"),
    [
        ("a\n", "a\n", []),
        ("", "", []),
        ("", "a\n", ["added"]),
        ("a\n", "", ["removed"]),
        ("a\nb\n", "a\nc\n", ["same", "changed"]),
        ("a\nb\n", "c\nb\nd\n", ["changed", "same", "added"]),
        ("a\nb\nc\n", "x\n", ["changed", "removed", "removed"]),
    ],
)
def test_lines_are_paired(left: str, right: str, changes: list[str]) -> None:
    assert [row.change for row in merge.compare(left, right)] == changes


def test_unchanged_lines_far_from_a_change_are_left_out() -> None:
    rows = merge.compare(LONG, LONG.replace("line 15\n", "line fifteen\n"))

    assert rows[0].change == rows[-1].change == "gap"
    assert [row.left[0] for row in rows if row.left] == [12, 13, 14, 15, 16, 17, 18]


def test_no_gap_is_claimed_where_nothing_is_left_out() -> None:
    rows = merge.compare(LONG, LONG.replace("line 1\n", "line one\n"))

    assert [row.change for row in rows] == ["changed", "same", "same", "same", "gap"]


@pytest.mark.parametrize(
    ("left", "right", "sentence"),
    [
        ("a\n", "a\n", "No line differs."),
        ("a\n", "b\n", "1 line changed."),
        ("", "a\nb\n", "2 lines added."),
        ("a\nb\n", "c\nb\nd\n", "1 line changed, 1 added."),
    ],
)
def test_the_summary_is_one_sentence(left: str, right: str, sentence: str) -> None:
    assert merge.summary(merge.compare(left, right)) == sentence


def test_markup_in_a_text_is_shown_as_text() -> None:
    context = merge.side_by_side("</textarea><b>", "<i>")

    html = render_to_string("partials/sides.html", context)

    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;/textarea&gt;&lt;b&gt;" in html
