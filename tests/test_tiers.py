"""Every test is in one tier on each database where it runs, and marks say in which."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from typing import NamedTuple

import pytest

from tests import services, tiers
from tests.rows import every_row
from tests.tiers import runs

pytestmark = pytest.mark.sqlite

MARKS = ("full", "servers", "postgres", "sqlite", "product", "django_db")
EVERY = [marks for size in range(len(MARKS) + 1) for marks in combinations(MARKS, size)]


class Item:
    """As much of a test as the choice looks at."""

    nodeid = "tests/test_something.py::test_something"
    fixturenames = ()

    def __init__(self, *marks: str) -> None:
        self.marks = [getattr(pytest.mark, name).mark for name in marks]

    def iter_markers(self) -> list[pytest.Mark]:
        """Return the marks, those of the test itself first."""
        return self.marks

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        """Return a mark of that name."""
        return next((mark for mark in self.marks if mark.name == name), None)


class Where(NamedTuple):
    """On which database a test is in which tier."""

    sqlite: str = ""
    postgres: str = ""


def where(*marks: str) -> Where:
    """Return the tiers of a test with these marks."""
    return Where(*(tier_on(Item(*marks), postgres=postgres) for postgres in (False, True)))


def tier_on(item: Item, *, postgres: bool) -> str:
    found = [tier for tier in tiers.TIERS if runs(item, tier, postgres=postgres)]  # type: ignore[arg-type]
    # All is the quick tier and the rest; nothing is in both, and nothing in neither.
    assert found in (["quick", "all"], ["rest", "all"], []), found
    return found[0] if found else ""


@every_row("marks", EVERY)
def test_whatever_is_marked_is_in_one_tier_or_does_not_run_there(marks: tuple[str, ...]) -> None:
    found = where(*marks)

    assert list(found).count("quick") <= 1
    assert "full" not in marks or "quick" not in found
    assert any(found) or {"postgres", "sqlite"} <= set(marks)


@every_row(
    ("marks", "expected"),
    [
        ((), Where("quick", "")),
        (("django_db",), Where("quick", "rest")),
        (("django_db", "sqlite"), Where("quick", "")),
        (("django_db", "servers"), Where("rest", "quick")),
        (("servers",), Where("quick", "")),
        (("postgres",), Where("", "quick")),
        (("postgres", "full"), Where("", "rest")),
        (("django_db", "full"), Where("rest", "rest")),
        (("django_db", "servers", "full"), Where("rest", "rest")),
        (("product",), Where("quick", "rest")),
        # A test's own mark goes before that of its module.
        (("quick", "full"), Where("quick", "")),
        (("full", "quick"), Where("rest", "")),
    ],
)
def test_marks_say_where_a_test_is_quick(marks: tuple[str, ...], expected: Where) -> None:
    assert where(*marks) == expected


@every_row(
    ("given", "named"),
    [
        ([], False),
        (["-n", "4", "-x", "--durations=10", "-p", "no:randomly"], False),
        (["tests/api"], True),
        (["tests/test_tiers.py::test_marks_say_where_a_test_is_quick"], True),
        (["-k", "hold"], True),
        (["-khold"], True),
        (["-m", "slow"], True),
        (["--lf"], True),
    ],
)
def test_whoever_names_tests_gets_them_whatever_their_tier(given: list[str], named: bool) -> None:
    assert services.names_tests(given) == named


def test_a_row_after_the_first_is_full() -> None:
    first, second = tiers.quick_first([("a", 1), ("b", 2)])

    assert first == ("a", 1)
    assert (second.values, [mark.name for mark in second.marks]) == (("b", 2), ["full"])


def collected(tier: str, database_url: str) -> list[str]:
    """Return the tests of a tier."""
    given = {tiers.VARIABLE: tier, "DATABASE_URL": database_url}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "-p", "no:randomly"]
    done = subprocess.run(
        command, cwd=services.ROOT, env=os.environ | given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize("database_url", ["", "postgres://nobody@/nothing"])
def test_the_quick_tests_and_the_rest_are_all_tests(database_url: str) -> None:
    quick, rest, every = (collected(tier, database_url) for tier in ("quick", "rest", "all"))

    assert len(quick) > 100
    assert sorted(quick + rest) == sorted(every)
    assert not set(quick) & set(rest)


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_quick_tests_look_at_every_area() -> None:
    quick = collected("quick", "") + collected("quick", "postgres://nobody@/nothing")
    folders = {each.parent.name for each in services.ROOT.glob("tests/*/test_*.py")}

    files = {name.partition("::")[0] for name in quick}
    assert folders == {name.split("/")[1] for name in files if name.count("/") > 1}
    for name in ("faults/test_quick", "browsing/test_every_page", "live/test_redis"):
        assert any(f"tests/{name}.py" in each for each in quick), name
