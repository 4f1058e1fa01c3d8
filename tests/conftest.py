"""Fixtures every test may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.servers.basehttp import WSGIServer
from django.db import connection
from django.test import TransactionTestCase

from resources.actor import Actor
from tests.services import pytest_collection_modifyitems as pytest_collection_modifyitems

LEDGER_TABLES = ("resources_ledgerevent", "resources_checkpoint")


class Clock:
    """A time that moves only when told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)

    def advance(self, **units: float) -> datetime:
        """Move on and return the new time."""
        self.now += timedelta(**units)
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return a clock at a fixed morning."""
    return Clock()


@pytest.fixture
def alice() -> Actor:
    """Return the manager."""
    return Actor("person", "alice")


@pytest.fixture
def robin() -> Actor:
    """Return the agent."""
    return Actor("agent", "robin")


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, settings: Any) -> Path:
    """Give every test a data folder of its own."""
    settings.DATA_DIR = tmp_path / "var"
    return tmp_path / "var"


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    """Forget the controllers of the test before: its keys are given out again."""
    from controllers import compiled

    compiled.compiled.cache_clear()


@contextmanager
def unprotected_ledger() -> Iterator[None]:
    """Do what only somebody with the database's keys can do: switch the triggers off."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")
            try:
                yield
            finally:
                cursor.execute("SET session_replication_role = DEFAULT")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        try:
            yield
        finally:
            for _, sql in triggers:
                cursor.execute(sql)


@pytest.fixture
def ledger_unprotected() -> Any:
    """Return the way around the triggers, for tests that tamper."""
    return unprotected_ledger


# A browser opens more connections at once than the test server lets wait; the rest are reset.
WSGIServer.request_queue_size = 128

original_teardown = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]


def teardown_append_only(self: TransactionTestCase) -> None:
    """Empty the tables after a test with real transactions; the ledger would refuse."""
    with unprotected_ledger():
        original_teardown(self)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO resources_changecounter (id, value) VALUES (1, 0)")


TransactionTestCase._fixture_teardown = teardown_append_only  # type: ignore[attr-defined]
