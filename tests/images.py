"""Beginnings that many tests share: made once in a while, then copied."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connection

# Pages tell how long ago things happened, so a beginning may be no older than this.
FRESH_SECONDS = 20
MOST_TRIES = 20


class Image(NamedTuple):
    """What a database and its data folder held, and by which clock."""

    database: sqlite3.Connection
    files: dict[Path, bytes]
    clock: datetime
    taken: float


IMAGES: dict[str, Image] = {}


def begin_with(name: str, make: Callable[[], None], now: datetime) -> datetime:
    """Bring the database to what `make` makes of an empty one; return the time it was made at.

    SQLite copies a database in a moment; elsewhere it is made every time.
    """
    image = IMAGES.get(name)
    if image and time.monotonic() - image.taken < FRESH_SECONDS and restored(image):
        return image.clock
    make()
    if connection.vendor == "sqlite":
        IMAGES.pop(name, None)
        keep(name, now)
    return now


def keep(name: str, now: datetime) -> None:
    """Copy the database and the data folder, unless somebody is at them."""
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    if not copied(connection.connection, copy):
        return
    folder = Path(settings.DATA_DIR)
    files = {
        each.relative_to(folder): each.read_bytes()
        for each in (folder.rglob("*") if folder.exists() else ())
        if each.is_file()
    }
    IMAGES[name] = Image(copy, files, now, time.monotonic())


def copied(source: sqlite3.Connection, target: sqlite3.Connection) -> bool:
    """Copy a database; tells whether no thread that a test left behind was in the way."""
    try:
        source.backup(target, progress=Patience(), sleep=0.05)
    except (Busy, sqlite3.OperationalError):
        return False
    return True


def restored(image: Image) -> bool:
    """Put a copy in the place of the database and of the data folder, unless somebody reads it."""
    connection.ensure_connection()
    if not copied(image.database, connection.connection):
        return False
    for name, content in image.files.items():
        path = Path(settings.DATA_DIR) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return True


class Busy(Exception):
    """Another connection is at the database, of a thread that the test before left."""


class Patience:
    """Gives up after a second; SQLite would wait for ever."""

    def __init__(self) -> None:
        self.tries = 0

    def __call__(self, status: int, remaining: int, total: int) -> None:
        """Count the tries that came to nothing."""
        self.tries += status not in (sqlite3.SQLITE_OK, sqlite3.SQLITE_DONE)
        if self.tries > MOST_TRIES:
            raise Busy
