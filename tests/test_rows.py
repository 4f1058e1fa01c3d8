"""A folded table checks every row, and says which ones fail."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from tests.rows import every_row


def test_every_row_is_checked_and_each_that_fails_is_named() -> None:
    checked = []

    @every_row(("left", "right"), [(1, 1), (1, 2), pytest.param(2, 2, id="twos"), (3, 4)])
    def equal(left: int, right: int) -> None:
        checked.append((left, right))
        assert left == right

    with pytest.raises(AssertionError) as raised:
        equal()

    assert checked == [(1, 1), (1, 2), (2, 2), (3, 4)]
    told = str(raised.value)
    assert "2 of 4 rows fail" in told
    assert "left=1, right=2: AssertionError" in told
    assert "left=3, right=4: AssertionError" in told
    assert "twos" not in told


def test_tables_upon_each_other_are_checked_in_every_combination() -> None:
    checked = []

    @every_row("letter", "ab")
    @every_row("number", [1, 2, 3], ids=lambda number: f"number {number}")
    def noted(letter: str, number: int) -> None:
        checked.append((letter, number))
        assert (letter, number) != ("b", 2)

    with pytest.raises(AssertionError, match="1 of 6 rows fail:\nletter='b', number=number 2: "):
        noted()

    assert checked == [(letter, number) for letter in "ab" for number in (1, 2, 3)]


def test_a_row_that_should_have_been_refused_fails() -> None:
    @every_row("text", ["1", "x"])
    def refused(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(AssertionError, match="1 of 2 rows fail:\ntext='1': Failed: DID NOT RAISE"):
        refused()


@every_row("name", ["a", "b"])
def test_fixtures_are_asked_for_as_ever(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch(exist_ok=False)


def test_only_what_is_no_column_is_a_fixture() -> None:
    asked = inspect.signature(test_fixtures_are_asked_for_as_ever).parameters

    assert list(asked) == ["tmp_path"]


@pytest.mark.sqlite
@pytest.mark.django_db
@every_row("number", [1, 2], rolled_back=True)
def test_what_a_row_wrote_can_be_undone(number: int) -> None:
    User.objects.create(username="maya")


def test_a_row_that_does_not_fit_the_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        every_row(("left", "right"), [(1, 2, 3)])


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="would check nothing"):
        every_row("text", [])
