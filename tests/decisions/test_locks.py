"""Effects share a scope, a hold has it to itself, and both only within a transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from controllers.decisions import locks
from resources.tables import versions
from tests.resources.conftest import real_database as real_database
from tests.resources.racing import Background

pytestmark = pytest.mark.servers

# The effect that is under way: in this domain, by this controller, on this resource.
DOMAIN, CONTROLLER, RESOURCE = "growth", 7, 11
SCOPES = ["organisation", "domain", "controller", "resource", "field"]


def share() -> None:
    locks.share(DOMAIN, CONTROLLER, RESOURCE)


def exclude(
    scope: Any, domain: str = DOMAIN, controller: int = CONTROLLER, resource: int = RESOURCE
) -> None:
    locks.exclude(scope, domain, controller, resource)


@contextmanager
def elsewhere(lock: Callable[[], object]) -> Iterator[None]:
    """Let another connection hold a lock meanwhile."""
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            lock()
            locked.set()
            assert release.wait(30)

    other = Background(hold)
    assert locked.wait(30)
    try:
        yield
    finally:
        release.set()
        other.wait()


def waits(lock: Callable[[], None]) -> bool:
    """Tell whether a lock has to be waited for."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '150ms'")
            lock()
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return True
        raise
    return False


@pytest.mark.django_db(transaction=True)
def test_a_lock_needs_a_transaction() -> None:
    with pytest.raises(RuntimeError, match="in the transaction that it protects"):
        share()
    with pytest.raises(RuntimeError, match="in the transaction that it protects"):
        exclude("organisation")


@pytest.mark.postgres
@pytest.mark.usefixtures("real_database")
def test_effects_do_not_wait_for_each_other() -> None:
    with elsewhere(share):
        assert not waits(share)
        assert not waits(lambda: locks.share("", None, RESOURCE))


@pytest.mark.postgres
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.usefixtures("real_database")
def test_a_hold_waits_for_the_effects_in_its_scope_and_they_for_it(scope: str) -> None:
    """I2: the check and the effect share one transaction, and a hold comes before or after it."""
    with elsewhere(share):
        assert waits(lambda: exclude(scope))
    with elsewhere(lambda: exclude(scope)):
        assert waits(share)
    assert not waits(lambda: exclude(scope))


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("scope", "other"),
    [
        ("domain", {"domain": "harbour"}),
        ("controller", {"controller": CONTROLLER + 1}),
        ("resource", {"resource": RESOURCE + 1}),
        ("field", {"resource": RESOURCE + 1}),
    ],
)
@pytest.mark.usefixtures("real_database")
def test_a_hold_does_not_wait_for_what_lies_outside_its_scope(
    scope: str, other: dict[str, Any]
) -> None:
    with elsewhere(share):
        assert not waits(lambda: exclude(scope, **other))
    with elsewhere(lambda: exclude(scope, **other)):
        assert not waits(share)


@pytest.mark.postgres
@pytest.mark.usefixtures("real_database")
def test_an_effect_that_waits_reads_what_the_hold_wrote() -> None:
    """READ COMMITTED: the locks come before the first read, so that sees what came before."""
    seen: list[bool] = []

    def effect() -> None:
        with transaction.atomic():
            share()
            seen.append(User.objects.filter(username="written-by-the-hold").exists())

    with transaction.atomic():
        exclude("organisation")
        waiting = Background(effect)
        User.objects.create_user("written-by-the-hold")
        while not connection_waits():
            pass
        assert not seen
    waiting.wait()

    assert seen == [True]


@pytest.mark.postgres
@pytest.mark.usefixtures("real_database")
def test_a_lock_holds_no_reader_of_changes_back() -> None:
    """The marks of the global counter are advisory locks too, and these are not among them."""
    with transaction.atomic():
        versions.take(3)
    with elsewhere(share), elsewhere(lambda: versions.take(1)):
        behind = versions.horizon()
    with elsewhere(share):
        assert versions.horizon() == behind + 1


@pytest.mark.postgres
@pytest.mark.usefixtures("real_database")
def test_a_hold_does_not_starve_behind_busy_effects() -> None:
    """Effects that come after a waiting hold wait behind it."""
    with elsewhere(share):
        hold = Background(lambda: transaction.atomic()(lambda: exclude("organisation"))())
        while not connection_waits():
            pass
        assert waits(share)
    hold.wait()


WAITING = """
    SELECT count(*) FROM pg_locks
    WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def connection_waits() -> bool:
    """Tell whether somebody waits in this database; tests beside this one have their own."""
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


@pytest.mark.sqlite
@pytest.mark.usefixtures("real_database")
def test_on_sqlite_a_transaction_is_the_only_writer_from_its_first_moment() -> None:
    with elsewhere(share):
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 100")
        with pytest.raises(OperationalError, match="locked"), transaction.atomic():
            exclude("organisation")
        connection.close()
