"""Databases with all tables and nothing in them, made once and copied: migrating takes seconds.

What a first start does by itself is shown in `test_up.py` and `test_newcomer.py`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / ".pytest_cache" / "prepared"
LOCK = 0x10A_7E57


@cache
def shape() -> str:
    """Return what the tables follow from, in short: the migrations, and the packages' versions."""
    files = [*ROOT.glob("*/migrations/*.py"), ROOT / "requirements.lock"]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def migrate(**variables: str) -> None:
    """Make the tables, as the product does."""
    ours = {"PYTHONPATH": str(ROOT), **variables}
    outer = {name: each for name, each in os.environ.items() if not name.startswith("IOA_")}
    for name in ("DATABASE_URL", "REDIS_URL"):
        outer.pop(name, None)
    command = [sys.executable, "-P", "-m", "ioa_site.cli", "migrate"]
    subprocess.run(command, env=outer | ours, check=True, capture_output=True)


def lay(folder: Path) -> None:
    """Put a database without rows where a product that was never started will look for one."""
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{shape()}.sqlite3"
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            keep(kept)
    folder.mkdir(parents=True)
    shutil.copyfile(kept, folder / "ioa.sqlite3")


def keep(kept: Path) -> None:
    """Make the file that is copied."""
    for old in KEPT.glob("*.sqlite3"):
        old.unlink()
    with tempfile.TemporaryDirectory(dir=KEPT) as made:
        migrate(IOA_DATA_DIR=made)
        (Path(made) / "ioa.sqlite3").replace(kept)


@contextmanager
def database(server: str, name: str, *, bare: bool = False) -> Iterator[str]:
    """Make a database on a server of the tests, with all tables or bare, and drop it after."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        pattern = "template1" if bare else pattern_of(connection, server)
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {pattern}")
    try:
        yield address(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def pattern_of(connection: psycopg.Connection, server: str) -> str:
    """Return the database that is copied; it has its name only once it is whole."""
    pattern = f"prepared_{shape()}"
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [pattern])
    if found.fetchone():
        return pattern
    unfinished = f"{pattern}_unfinished"
    connection.execute(f"DROP DATABASE IF EXISTS {unfinished}")
    connection.execute(f"CREATE DATABASE {unfinished}")
    with tempfile.TemporaryDirectory() as folder:
        migrate(DATABASE_URL=address(server, unfinished), IOA_DATA_DIR=folder)
    connection.execute(f"ALTER DATABASE {unfinished} RENAME TO {pattern}")
    return pattern


def address(server: str, name: str) -> str:
    """Return the address of a database of a server."""
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
