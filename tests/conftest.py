"""Fixtures every test may use."""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management.commands.migrate import Command as Migrate
from django.core.servers.basehttp import WSGIServer
from django.db import connection, transaction
from django.db.models import DateTimeField, Value
from django.db.models.sql.compiler import SQLUpdateCompiler
from django.test import Client, TransactionTestCase
from django.utils import timezone
from servestatic.middleware import ServeStaticMiddleware

from controllers.common import clocks
from controllers.common.rows.queries import Prepared, Spelled
from ioa_site.server import create_tables
from resources.documents.actor import Actor
from tests.tiers import load_profile
from tests.tiers import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.tiers import pytest_ignore_collect as pytest_ignore_collect

if TYPE_CHECKING:
    from django.contrib.auth.models import User

load_profile()


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later sweep: it lives as long as the run."""
    gc.collect()
    gc.freeze()


class Clock:
    """A time that moves only when told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)

    def advance(self, **units: float) -> datetime:
        """Move on and return the new time."""
        self.now += timedelta(**units)
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a clock at a fixed morning; the database's reads the same, whatever day it is."""
    clock = Clock()
    monkeypatch.setattr(clocks, "Now", lambda: Value(clock.now, output_field=DateTimeField()))
    for query in spelled_once():
        monkeypatch.setattr(query, "spelled", Unkept())
    return clock


class Unkept(dict[str, Spelled]):
    """Keeps no query: the time is written into it, and this clock moves."""

    def __contains__(self, vendor: object) -> bool:
        return False


def spelled_once() -> Iterator[Prepared]:
    """Yield the queries that hold deadlines against the database's clock."""
    for name, module in list(sys.modules.items()):
        if name.startswith("controllers."):
            yield from (each for each in vars(module).values() if isinstance(each, Prepared))


@pytest.fixture
def today() -> Clock:
    """Return a clock that begins when the test does, as the views and the database read it."""
    clock = Clock()
    clock.now = timezone.now()
    return clock


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
    from controllers.workqueue import compiled_controllers

    compiled_controllers.compiled.cache_clear()


@pytest.fixture(autouse=True)
def unhurried(settings: Any) -> None:
    """Let tests call as often as they like; those about rates say how often."""
    settings.API_RATE = 1_000_000


def given(user: User, *roles: str, domain: str = "") -> User:
    """Give somebody roles for a domain or for the organisation, and return them."""
    from controllers.models import Grant

    for role in roles:
        Grant.objects.create(
            person=user,
            role=role,
            domain=domain,
            granted_by="system/ioa",
            granted_at=timezone.now(),
        )
    return user


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


original_login = Client._login  # type: ignore[attr-defined]


def sign_in_now(self: Client, user: Any, backend: str | None = None) -> None:
    """Let somebody be signed in as if they had just come through the door."""
    original_login(self, user, backend)
    session = self.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()


Client._login = sign_in_now  # type: ignore[attr-defined]

# Every test's client makes all middleware anew; the static files are the same each time.
original_scan = ServeStaticMiddleware.add_files_from_finders
scanned: dict[tuple[str, object], dict[str, Any]] = {}


def scan_once(self: ServeStaticMiddleware) -> None:
    """Look for static files once in a process, for each way of serving them."""
    how = (self.static_prefix, self.max_age)
    if how not in scanned:
        original_scan(self)
        scanned[how] = dict(self.files)
    self.files.update(scanned[how])


ServeStaticMiddleware.add_files_from_finders = scan_once

original_setup = SQLUpdateCompiler.pre_sql_setup


def refuse_joins(self: SQLUpdateCompiler) -> None:
    """Let no update join: PostgreSQL would not notice that somebody was faster, see `scoping`."""
    if self.query.count_active_tables() > 1 and not asked_by_a_test():
        raise AssertionError(f"An update of {self.query.model} joins: {self.query.where}")
    original_setup(self)


def asked_by_a_test() -> bool:
    """Tell whether the nearest code that is not a package's is a test's: those race nobody."""
    names = (each.f_code.co_filename for each, _ in traceback.walk_stack(sys._getframe(2)))
    nearest = next((each for each in names if "site-packages" not in each), "")
    return f"{os.sep}tests{os.sep}" in nearest


SQLUpdateCompiler.pre_sql_setup = refuse_joins  # type: ignore[method-assign]

original_migrate = Migrate.handle


def make_at_once(self: Migrate, *given: Any, **options: Any) -> None:
    """Make an empty database as a first start does: a tenth of what migrations take."""
    if create_tables.is_empty():
        create_tables.found()
    else:
        original_migrate(self, *given, **options)


Migrate.handle = make_at_once  # type: ignore[assignment]

# A browser opens more connections at once than the test server lets wait; the rest are reset.
WSGIServer.request_queue_size = 128

# What migrations leave behind is the same for all tests, and slow to make again.
KEPT = {"auth_permission", "django_content_type", "django_migrations"}


def empty_tables(self: TransactionTestCase) -> None:
    """Empty the tables after a test with real transactions; the ledger would refuse.

    A test leaves few rows: to delete them costs a tenth of truncating every table.
    """
    with unprotected_ledger(), transaction.atomic(), connection.cursor() as cursor:
        names = connection.introspection.django_table_names(only_existing=True)
        for name in sorted(set(names) - KEPT):
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(name)}")  # noqa: S608
        if connection.vendor == "sqlite":
            cursor.execute("INSERT INTO resources_changecounter (id, value) VALUES (1, 0)")


TransactionTestCase._fixture_teardown = empty_tables  # type: ignore[attr-defined]
