"""The table of behaviours is up to date, and nothing in it is out of thin air."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import behaviours, outside
from tests.behaviours import TABLE, Book, missing, named_in, read_book, read_tests, standing, table
from tests.outside import FOLDERS, ROOT, from_outside, reaching_inside

# One run is enough: nothing here depends on the database.
pytestmark = pytest.mark.sqlite

BOOK = Book(
    sections={"Work": {"I-01": "It works", "I-02": "It rests", "I-03": "It stops"}},
    answers={"X-01": "Work first"},
    pending={"I-02": "it never rests"},
    left_out={"I-03": "nobody stops it"},
)
SHOWN = "tests/promises/test_loop.py::test_b"
INSIDE = "tests/engine/test_a.py::test_c"
TESTS = {"I-01": [INSIDE, INSIDE, SHOWN], "I-02": [INSIDE]}


def test_the_table_is_up_to_date() -> None:
    written = table(read_book(), read_tests())

    assert TABLE.read_text(encoding="utf-8") == written, "Run: python -m tests.behaviours"


def test_no_cell_is_empty() -> None:
    rows = [line for line in TABLE.read_text("utf-8").splitlines() if re.match(r"\| [A-Z]-", line)]
    book = read_book()

    assert len(rows) == len(book.known)
    assert [row for row in rows if "" in (cell.strip() for cell in row.split("|")[1:-1])] == []


def test_tests_and_reasons_name_only_behaviours_there_are() -> None:
    book = read_book()

    assert sorted(id_ for id_ in read_tests() if id_ not in book.known) == []
    assert sorted(id_ for id_ in book.pending if id_ not in book.known) == []
    assert sorted(id_ for id_ in book.left_out if id_ not in book.titles) == []


def test_no_note_is_out_of_date() -> None:
    """What a test shows from outside has no note that says otherwise, and notes name no parts."""
    book, tests = read_book(), read_tests()
    noted = {**book.pending, **book.left_out}

    assert [id_ for id_ in noted if behaviours.outside(id_, tests)] == []
    assert [id_ for id_ in book.pending if id_ in book.left_out] == []
    assert [each for each in noted.values() if re.search(r"\bpart \d|\blater\b", each)] == []


def test_promises_do_not_reach_inside() -> None:
    found = {path.name: reaching_inside(path) for path in (ROOT / FOLDERS[0]).rglob("*.py")}

    assert {name: inside for name, inside in found.items() if inside} == {}


def test_who_imports_the_product_or_who_does_reaches_inside() -> None:
    demo, journey = "tests/journeys/test_demo.py", "tests/journeys/test_outside.py"

    assert demo in reaching_inside(ROOT / demo)
    # By a script that it hands to Python, and by what it imports.
    assert reaching_inside(ROOT / "tests/journeys/test_herd.py") == {"tests/journeys/herd.py"}
    assert reaching_inside(ROOT / journey) == frozenset()
    assert from_outside(f"{journey}::test_it")
    assert not from_outside(f"{demo}::test_it")
    assert not from_outside("tests/test_bench.py::test_it")
    assert outside.INSIDE.search("if True:\n    from resources.tables import models\n")
    assert not outside.INSIDE.search("from tests.resources.making import live\n")


def test_no_behaviour_is_left_out_or_listed_twice() -> None:
    book = read_book()
    numbers = {"I": 106, "A": 39, "O": 67, "F": 60, "D": 56}
    everything = {
        f"{letter}-{n:02}" for letter, most in numbers.items() for n in range(1, most + 1)
    }

    assert set(book.titles) == everything
    assert sum(len(rows) for rows in book.sections.values()) == 328
    assert set(book.answers) == {f"X-{n:02}" for n in range(1, 30)}


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


def test_a_row_names_who_shows_it_or_says_why_nobody_does() -> None:
    page = table(BOOK, TESTS)

    shown = "`promises/test_loop.py::test_b`"
    within = "`engine/test_a.py::test_c`"
    assert "| Work | 3 | 1 | 1 | 1 |\n" in page
    assert f"| I-01 | It works | {shown} | {within} and 1 more |\n" in page
    assert f"| I-02 | It rests | Not shown yet: it never rests | {within} |\n" in page
    assert "| I-03 | It stops | Left out: nobody stops it | nothing |\n" in page
    assert "| X-01 | Work first | Not shown yet: no test from outside" in page
    assert "- `journeys/test_demo.py`\n" in page


def test_only_a_test_from_outside_shows_a_behaviour() -> None:
    assert standing("I-01", BOOK, {"I-01": [SHOWN]}) == "shown"
    assert standing("I-01", BOOK, {"I-01": [INSIDE]}) == "not shown yet"
    assert missing(BOOK, TESTS) == ["I-02"]


def test_what_is_not_shown_is_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behaviours, "read_book", lambda: BOOK)
    monkeypatch.setattr(behaviours, "read_tests", lambda: TESTS)

    assert behaviours.main(["--missing"]) == 1
    assert re.fullmatch(r"I-02 +It rests\n", capsys.readouterr().out)
