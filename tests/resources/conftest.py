"""Fixtures for the tests of the core."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from resources.store import evidence
from resources.tables import ledger
from resources.tables.ledger import Entry
from tests.conftest import Clock
from tests.resources.making import ALICE
from tests.resources.tampering import LAST


def on_file(memory: BaseDatabaseWrapper, file: Path) -> Iterator[None]:
    """Put a copy of the database in memory into a file, and this thread's connection on it."""
    memory.ensure_connection()
    with sqlite3.connect(file) as copy:
        memory.connection.backup(copy)
        # Many connections that come at once could not all change the mode.
        copy.execute("PRAGMA journal_mode=WAL")
    copy.close()
    name = memory.settings_dict["NAME"]
    memory.settings_dict["NAME"] = str(file)
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        connections["default"] = memory
        memory.settings_dict["NAME"] = name


@pytest.fixture
def real_database(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    """Give a database that threads share as processes would; SQLite needs a file for that."""
    default = connections["default"]
    if default.vendor == "sqlite":
        yield from on_file(default, tmp_path / "real.sqlite3")
    else:
        yield


@pytest.fixture
def signed_ledger(transactional_db: None, clock: Clock) -> None:
    """Two streams of six entries each, a checkpoint after half of them and one at the end."""
    for half in range(2):
        for number in range(LAST // 2):
            entries = [
                Entry(stream, "thing.happened", f"thing/{stream}", {"n": 1, "half": half})
                for stream in ("a", "b")
            ]
            with transaction.atomic():
                ledger.append(entries, actor=ALICE, now=clock.advance(minutes=number))
        assert evidence.checkpoint(clock.now) is not None
    assert evidence.verify().ok


@pytest.fixture
def tamper(ledger_unprotected: Any) -> Callable[..., None]:
    """Run a statement as somebody would who owns the database."""

    def run(statement: str, *values: Any) -> None:
        with ledger_unprotected(), connection.cursor() as cursor:
            cursor.execute(statement, values)

    return run
