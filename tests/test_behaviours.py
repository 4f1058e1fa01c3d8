"""The table of behaviours is up to date, and nothing in it is out of thin air."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import behaviours
from tests.behaviours import TABLE, Book, missing, named_in, read_book, read_tests, table

# One run is enough: nothing here depends on the database.
pytestmark = pytest.mark.sqlite

BOOK = Book(
    sections={"Work": {"I-01": "It works", "I-02": "It rests", "I-03": "It stops"}},
    answers={"X-01": "Work first"},
    reasons={"later": ["I-02", "I-03"]},
)
TESTS = {"I-01": ["tests/test_a.py::test_b"], "I-02": ["tests/test_a.py::test_c"]}


def test_the_table_is_up_to_date() -> None:
    written = table(read_book(), read_tests())

    assert TABLE.read_text(encoding="utf-8") == written, "Run: python -m tests.behaviours"


def test_every_behaviour_has_a_test_or_a_reason_for_having_none() -> None:
    assert missing(read_book(), read_tests()) == []


def test_tests_and_reasons_name_only_behaviours_there_are() -> None:
    book = read_book()
    known = {**book.titles, **book.answers}

    assert sorted(id_ for id_ in read_tests() if id_ not in known) == []
    assert sorted(id_ for id_ in book.reason_of if id_ not in book.titles) == []


def test_no_behaviour_is_left_out_or_listed_twice() -> None:
    book = read_book()
    numbers = {"I": 106, "A": 39, "O": 67, "F": 60, "D": 56}
    everything = {
        f"{letter}-{n:02}" for letter, most in numbers.items() for n in range(1, most + 1)
    }

    assert set(book.titles) == everything
    assert sum(len(rows) for rows in book.sections.values()) == 328
    assert sum(len(ids) for ids in book.reasons.values()) == len(book.reason_of)


def test_a_behaviour_is_told_in_at_most_eight_words() -> None:
    book = read_book()

    assert [words for words in book.titles.values() if len(words.split()) > 8] == []


def test_ids_are_read_from_the_start_of_a_docstring_only() -> None:
    source = '''
def test_a() -> None:
    """I-46 X-09 A sentence about I-47."""
async def test_b() -> None:
    """A sentence about I-48."""
class TestC:
    def test_d(self) -> None:
        """O-01, F-02"""
def helper() -> None:
    """I-49"""
'''
    assert dict(named_in(source)) == {"test_a": ["I-46", "X-09"], "test_d": ["O-01", "F-02"]}


def test_tests_are_found_in_every_folder(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "deep"
    folder.mkdir(parents=True)
    (folder / "test_one.py").write_text('def test_it() -> None:\n    """D-01"""\n')
    (folder / "helpers.py").write_text('def test_it() -> None:\n    """D-02"""\n')

    assert read_tests(tmp_path / "tests") == {"D-01": ["tests/deep/test_one.py::test_it"]}


def test_a_row_shows_its_tests_and_what_is_still_to_come() -> None:
    page = table(BOOK, TESTS)

    assert "| Work | 3 | 1 | 1 | 1 | 0 |\n" in page
    assert "| I-01 | It works | `tests/test_a.py::test_b` |\n" in page
    assert "| I-02 | It rests | `tests/test_a.py::test_c`<br>later |\n" in page
    assert "| I-03 | It stops | later |\n" in page
    assert "| X-01 | Work first |  |\n" in page


def test_what_has_neither_test_nor_reason_is_missing() -> None:
    assert missing(BOOK, {}) == ["I-01"]


def test_missing_behaviours_are_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behaviours, "read_book", lambda: BOOK)
    monkeypatch.setattr(behaviours, "read_tests", dict)

    assert behaviours.main(["--missing"]) == 1
    assert re.fullmatch(r"I-01 +It works\n", capsys.readouterr().out)
