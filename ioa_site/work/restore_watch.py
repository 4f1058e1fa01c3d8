"""Watch for a restored database while a process starts and ends."""

from __future__ import annotations

from contextlib import suppress

from django.db import DatabaseError, connection
from django.utils import timezone

from controllers.loop import restore_watch
from ioa_site.server.terminal import complain


def look_before_starting() -> None:
    """Close the gate of a restored database before anything can pass it, and say so."""
    hold = restore_watch.look(timezone.now())
    connection.close()
    if hold is not None:
        complain(f"ioa: frozen by hold/{hold.pk}. {hold.reason}")


def look_before_ending() -> None:
    """Remember what there was, so that less of it is noticed; a database that is away says no."""
    with suppress(DatabaseError):
        restore_watch.look(timezone.now())
    connection.close()
