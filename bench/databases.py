"""Databases for the runs: made once, copied for each run, never one of yours."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

WITHOUT_POSTGRES = (
    "PostgreSQL is NOT measured: its figures need Linux and `./ioa setup --dev`, which brings a"
    " server"
)


class Unavailable(Exception):
    """A database cannot be measured here; the text says why."""


class Database(Protocol):
    """A place for databases, each under a name."""

    name: str
    version: str
    # The address of a Redis that goes with it, if one does.
    redis: str

    def url(self, name: str) -> str:
        """Return the address of a database."""

    def create(self, name: str) -> None:
        """Make an empty one."""

    def copy(self, source: str, name: str) -> None:
        """Copy one; an older copy is replaced."""

    def drop(self, name: str) -> None:
        """Take one away."""


class Sqlite:
    """Files in a folder."""

    name, redis = "sqlite", ""
    version = f"SQLite {sqlite3.sqlite_version}"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return the file of a database."""
        return self.folder / f"{name}.sqlite3"

    def url(self, name: str) -> str:
        """Return the address of a database."""
        return f"sqlite:///{self.path(name)}"

    def create(self, name: str) -> None:
        """Make way for an empty one; it is made by whoever opens it."""
        self.drop(name)

    def copy(self, source: str, name: str) -> None:
        """Copy one; whoever wrote it has closed it, so its file is all there is."""
        self.drop(name)
        shutil.copyfile(self.path(source), self.path(name))

    def drop(self, name: str) -> None:
        """Take one away, with what lies beside it."""
        for each in self.folder.glob(f"{name}.sqlite3*"):
            each.unlink()


class Postgres:
    """Databases on a server that was started for the benchmark."""

    name = "postgres"

    def __init__(self, server: str, redis: str) -> None:
        self.server, self.redis = server, redis
        with psycopg.connect(server, autocommit=True) as connection:
            self.version = f"PostgreSQL {connection.info.server_version // 10_000}"
            # It would run during some of the measurements and not during others.
            connection.execute("ALTER SYSTEM SET autovacuum = off")
            connection.execute("SELECT pg_reload_conf()")

    def url(self, name: str) -> str:
        """Return the address of a database."""
        return urlsplit(self.server)._replace(path=f"/{name}").geturl()

    def create(self, name: str) -> None:
        """Make an empty one."""
        self.copy("template0", name)

    def copy(self, source: str, name: str) -> None:
        """Copy one; an older copy is replaced."""
        self.drop(name)
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        self.run(statement.format(sql.Identifier(name), sql.Identifier(source)))

    def drop(self, name: str) -> None:
        """Take one away."""
        self.run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def run(self, statement: sql.Composed) -> None:
        """Run one statement on the server; a checkpoint inside it is not of the next run."""
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def started(name: str, folder: Path) -> Iterator[Database]:
    """Yield the databases of a kind; a server is started and stopped with it."""
    if name == "sqlite":
        yield Sqlite(folder)
        return
    try:
        from tests.services import ServiceUnavailable, start_postgres, start_redis
    except ImportError:
        raise Unavailable(f"{WITHOUT_POSTGRES}.") from None
    # A given server is somebody's, and may be far away.
    for given in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(given, None)
    try:
        with start_postgres() as server, start_redis() as redis:
            yield Postgres(server, redis)
    except ServiceUnavailable as error:
        raise Unavailable(f"{WITHOUT_POSTGRES}. {error}") from None
