"""Choose which tests run: the quick tier, the rest or all of them, and on which database.

Marks on a module, a test or a row say it; `pyproject.toml` says what they mean. Without marks a
test is quick on SQLite, and in the rest on PostgreSQL when it uses the database. Each test that is
quick is so on one database, and in the rest on the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import settings

Tier = Literal["quick", "rest", "all"]
TIERS: tuple[Tier, ...] = get_args(Tier)
# Set by the runner; whoever calls pytest without it runs all that is asked for.
VARIABLE = "TEST_TIER"
# How many examples are drawn where a test does not say how many it takes.
DRAWN = {"quick": 25, "rest": 100, "all": 100}
# What a module says somewhere if one of its tests runs in a tier on PostgreSQL, or not there.
TELLING: dict[tuple[Tier, bool], tuple[str, ...]] = {
    ("quick", True): ("servers", "postgres"),
    ("rest", False): ("full", "quick_first", "servers"),
}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Import no module that has nothing for this tier: most of the PostgreSQL pass was that."""
    words = TELLING.get((chosen(), on_postgres()))
    if not words or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    return None if any(word in text for word in words) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what belongs to another tier or database; `conftest.py` makes this hook known."""
    tier, postgres = chosen(), on_postgres()
    kept = [item for item in items if runs(item, tier, postgres=postgres)]
    config.hook.pytest_deselected(items=list(set(items).difference(kept)))
    items[:] = sorted(kept, key=runs_last)


def chosen() -> Tier:
    """Return the tier that the runner named."""
    named = os.environ.get(VARIABLE, "all")
    return next((tier for tier in TIERS if tier == named), "all")


def on_postgres() -> bool:
    """Tell whether this run has PostgreSQL."""
    return os.environ.get("DATABASE_URL", "").startswith("postgres")


def runs(item: pytest.Item, tier: Tier, *, postgres: bool) -> bool:
    """Tell whether a test runs in a tier on a database."""
    return on_database(item, postgres=postgres) and tier in ("all", tier_of(item, postgres))


def on_database(item: pytest.Item, *, postgres: bool) -> bool:
    """Tell whether a test says something on this database that it does not say on the other."""
    if postgres:
        return uses_database(item) and not has_mark(item, "sqlite")
    return not has_mark(item, "postgres")


def tier_of(item: pytest.Item, postgres: bool) -> Tier:
    """Return the one tier of a test on a database."""
    quick = not is_full(item) and postgres == quick_on_postgres(item)
    return "quick" if quick else "rest"


def is_full(item: pytest.Item) -> bool:
    """Tell whether a test is for the rest alone; what a test says goes before its module."""
    said = (mark.name for mark in item.iter_markers() if mark.name in ("full", "quick"))
    return next(said, "quick") == "full"


def quick_on_postgres(item: pytest.Item) -> bool:
    """Tell whether a test shows most on PostgreSQL: then it is quick there, not on SQLite."""
    return has_mark(item, "servers", "postgres") and on_database(item, postgres=True)


def uses_database(item: pytest.Item) -> bool:
    """Tell whether a test asks for the database, by a mark or by a fixture."""
    return has_mark(item, "postgres", "product") or opens_database(item)


def opens_database(item: pytest.Item) -> bool:
    """Tell whether a test uses the database in its own process."""
    asked = {"db", "transactional_db"}.intersection(getattr(item, "fixturenames", []))
    return has_mark(item, "django_db") or bool(asked)


def has_mark(item: pytest.Item, *names: str) -> bool:
    """Tell whether a test has one of these marks."""
    return any(item.get_closest_marker(name) for name in names)


def runs_last(item: pytest.Item) -> bool:
    """Tell whether a test comes after those that run the product or a browser.

    These wait much and take long: one worker begins with them while the others compute, and none
    of them is left over for the end.
    """
    long = has_mark(item, "product", "browser") or item.nodeid.startswith("tests/journeys/")
    return opens_database(item) or not long


def quick_first(rows: Iterable[Any], quick: int = 1) -> list[Any]:
    """Return the rows of a table, of which the first are quick and all others in the rest."""
    return [row if number < quick else full(row) for number, row in enumerate(rows)]


def full(row: Any) -> Any:
    """Return a row that is in the rest."""
    values = row if isinstance(row, tuple) else (row,)
    return pytest.param(*values, marks=pytest.mark.full)


def load_profile() -> None:
    """Tell Hypothesis how much to draw; a busy machine is not a slow program."""
    settings.register_profile("ioa", max_examples=DRAWN[chosen()], deadline=None)
    settings.load_profile("ioa")


def examples(usual: int) -> int:
    """Return how many examples to draw where a test takes more or fewer than others."""
    return max(1, usual * DRAWN[chosen()] // DRAWN["all"])
