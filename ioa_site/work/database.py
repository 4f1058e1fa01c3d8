"""The database a command finds: made on first use, never upgraded behind running servers."""

from __future__ import annotations

from django.db import connection

from ioa_site.commands import Stop
from ioa_site.server.database import behind, migrate_if_needed
from ioa_site.server.terminal import complain

BEHIND = "The database is older than this version: run `ioa migrate` first."


def use_one_connection() -> None:
    """Do without the servers' pool: a command needs one connection, and an error at once."""
    connection.settings_dict["OPTIONS"].pop("pool", None)


def prepare() -> None:
    """Make an empty database ready, and bring an SQLite file up to date.

    A shared PostgreSQL that is behind is left alone: other processes may still use it as it is.
    """
    if not behind():
        return
    empty = "django_migrations" not in connection.introspection.table_names()
    if connection.vendor == "postgresql" and not empty:
        raise Stop(BEHIND)
    migrate_if_needed()
    done = "Made the database" if empty else "Brought the database up to date"
    complain(f"{done}: {connection.settings_dict['NAME']}")


def require_current() -> None:
    """Stop a server that would find its tables missing."""
    missing = behind()
    # The servers have a pool: what was looked at here belongs to no request.
    connection.close()
    if missing:
        raise Stop(BEHIND)
