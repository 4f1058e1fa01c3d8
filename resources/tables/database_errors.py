"""What to say when the database does not answer, or cannot take what it is given."""

from __future__ import annotations

from django.db import DatabaseError, InterfaceError, OperationalError

# PostgreSQL's word for a full disk; SQLite only has the sentence.
DISK_FULL, FULL = "53100", "disk is full"
RETRY_SECONDS = "2"


def is_outage(error: BaseException | None) -> bool:
    """Tell whether an error is the database's, and passes by itself."""
    return isinstance(error, (InterfaceError, OperationalError))


def sentence(error: BaseException) -> str:
    """Say what a person, or a program, can do about it."""
    if is_full(error):
        return "The disk of the database is full: nothing can be written until there is room."
    return "The database does not answer. Try again in a moment."


def is_full(error: BaseException) -> bool:
    """Tell whether there is no room left on the disk."""
    if not isinstance(error, DatabaseError):
        return False
    return getattr(error.__cause__, "sqlstate", "") == DISK_FULL or FULL in str(error)
