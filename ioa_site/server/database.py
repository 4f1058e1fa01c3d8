"""Bring the database to today's shape before anything uses it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from ioa_site.server import create_tables

# What the lock is known by, among all locks of one database.
MIGRATING = 0x10A_0001


def behind() -> bool:
    """Tell whether migrations are missing."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def migrate_if_needed() -> bool:
    """Run the migrations that are missing; tells whether there were any."""
    if not behind():
        return False
    with one_at_a_time():
        if create_tables.is_empty():
            create_tables.found()
        elif behind():
            call_command("migrate", interactive=False, verbosity=0)
    return True


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let a second process wait until the first has made the tables, wherever it runs."""
    with on_one_server() if connection.vendor == "postgresql" else in_one_folder():
        yield


@contextmanager
def on_one_server() -> Iterator[None]:
    """Hold a lock of the database itself: processes may run on many machines."""
    with connection.cursor() as cursor:
        # Waiting for another machine's migrations may take longer than a statement may.
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SET lock_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
    try:
        yield
    finally:
        # A session that broke has lost the lock already; one that did not goes back to a pool.
        with suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATING])
            cursor.execute("RESET statement_timeout")
            cursor.execute("RESET lock_timeout")


@contextmanager
def in_one_folder() -> Iterator[None]:
    """Hold a file beside the database."""
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
