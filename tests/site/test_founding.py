"""A first start makes at once what all migrations make one after the other."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from tests.browsing.stage import servers
from tests.journeys.prepared import ROOT

pytestmark = [pytest.mark.product, pytest.mark.full]

ONE_BY_ONE = (sys.executable, "manage.py", "migrate", "--verbosity", "0")
AT_ONCE = (sys.executable, "-P", "-m", "ioa_site.cli", "migrate")
# Everything PostgreSQL knows about a place, besides numbers it gave to things. Between people,
# groups and permissions Django's migrations make keys that are longer than its own models say.
CATALOGUE = {
    "columns": """
        SELECT table_name, column_name, data_type, character_maximum_length, is_nullable,
          column_default, is_identity, collation_name
        FROM information_schema.columns WHERE table_schema = 'public'
          AND NOT (table_name LIKE 'auth\\_%\\_%' AND column_name = 'id')
    """,
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
    """,
    "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "storage": """
        SELECT relname, relkind, reloptions FROM pg_class
        WHERE relnamespace = 'public'::regnamespace
    """,
    "functions": """
        SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    """,
    "migrations": "SELECT app, name FROM django_migrations",
    "kinds": "SELECT app_label, model FROM django_content_type",
    "permissions": "SELECT codename FROM auth_permission",
}

Shape = dict[str, list[str]]


def made(command: tuple[str, ...], folder: Path, given: Mapping[str, str]) -> Shape:
    """Bring a database to today's shape, and return what is there then."""
    outer = {name: each for name, each in os.environ.items() if not name.startswith("IOA_")}
    ours = {"PYTHONPATH": str(ROOT), "IOA_DATA_DIR": str(folder), **given}
    folder.mkdir(exist_ok=True)
    if not given:
        outer.pop("DATABASE_URL", None)
    subprocess.run(command, cwd=ROOT, env=outer | ours, check=True, capture_output=True)
    return of_server(given["DATABASE_URL"]) if given else of_file(folder / "ioa.sqlite3")


def of_server(url: str) -> Shape:
    """Read what PostgreSQL has."""
    with psycopg.connect(url) as connection:
        return {
            name: sorted(map(str, connection.execute(statement)))
            for name, statement in CATALOGUE.items()
        }


def of_file(file: Path) -> Shape:
    """Read what SQLite has; columns in any order, and each number of rows."""
    connection = sqlite3.connect(file)
    found: Shape = {}
    master = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    for kind, name, text in connection.execute(master).fetchall():
        if kind != "table":
            found[name] = [" ".join(text.split())]
            continue
        columns = connection.execute("SELECT * FROM pragma_table_info(?)", [name])
        keys = connection.execute("SELECT * FROM pragma_foreign_key_list(?)", [name])
        count = f'SELECT COUNT(*) FROM "{name}"'  # noqa: S608 - a name out of its own catalogue
        rows = connection.execute(count).fetchone()
        # Without its number: columns that were added later come later.
        parts = [*(each[1:] for each in columns), *(each[2:] for each in keys)]
        found[name] = [*sorted(map(str, parts)), str(rows), *sorted(checks(text))]
    connection.close()
    return found


def checks(text: str) -> list[str]:
    """Return the words of a table that are not about a single column."""
    return [each.split("(")[0].strip() for each in text.split("CONSTRAINT")[1:]]


def test_all_at_once_is_the_same_as_one_by_one(tmp_path: Path) -> None:
    with servers(bare=True) as one, servers(bare=True) as other:
        migrated = made(ONE_BY_ONE, tmp_path / "migrated", one)
        founded = made(AT_ONCE, tmp_path / "founded", other)

    assert founded == migrated
    assert "append_only" in str(founded) or "no_UPDATE" in str(founded)


def test_what_was_begun_by_migrations_is_ended_by_them(tmp_path: Path) -> None:
    """Only an empty database is made at once: rows that are there have to be moved."""
    with servers(bare=True) as one, servers(bare=True) as other:
        before = made((*ONE_BY_ONE, "controllers", "0005"), tmp_path / "older", one)
        ended = made(AT_ONCE, tmp_path / "older", one)

        assert before != ended == made(AT_ONCE, tmp_path / "anew", other)
