"""Bring the database to today's shape before anything uses it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def behind() -> bool:
    """Tell whether migrations are missing."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def migrate_if_needed() -> bool:
    """Run the migrations that are missing; tells whether there were any."""
    if not behind():
        return False
    with one_at_a_time():
        if behind():
            call_command("migrate", interactive=False, verbosity=0)
    return True


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let a second process wait until the first has made the tables."""
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
