"""What a cycle costs in statements and rows: counted, because counts have no noise."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bench import subjects, world
from controllers.models import DriftSample, Judgement
from controllers.worker import controller_commands
from resources.tables.models import Condition, LedgerEvent, ResourceRevision

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
# Statements of a cycle that finds nothing to do, and of one more for each chunk it goes through.
# A chunk holds 1,000 resources on SQLite and 2,000 on PostgreSQL.
CYCLE, CHUNK = 52, 47
GROWING = frozenset(
    {
        "controllers_cycle",
        "controllers_judgement",
        "resources_condition",
        "resources_ledgerevent",
        "resources_reference",
        "resources_resource",
        # As cycles call them besides.
        *("found", "naming", "r", "source"),
    }
)
TRANSACTION = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "SET TRANSACTION")
# Alerts are ended with one statement, if there are any to end.
NOT_COUNTED = (*TRANSACTION, 'UPDATE "controllers_alert"')


def settled(size: int) -> datetime:
    """Make an organisation that its controller has seen; it then goes by what changes."""
    world.load(size)
    statements(subjects.SETTLED)
    return subjects.SETTLED + MINUTE


def grow(size: int, to: int, now: datetime) -> datetime:
    """Let more agents join; their controller sees them at once."""
    world.insert(list(range(size, to)), bare=False)
    full_cycle(now)
    return now + MINUTE


def full_cycle(now: datetime) -> list[str]:
    """Run a cycle over everything; return its statements."""
    controller_commands.request(world.CONTROLLER, actor=world.PERSON, now=now)
    return statements(now)


def statements(now: datetime) -> list[str]:
    """Do what is due; return what was asked of the database, many rows at once being one."""
    with CaptureQueriesContext(connection) as captured:
        (cycle,) = subjects.work(now)
    assert not cycle.error
    asked = [each["sql"] for each in captured.captured_queries]
    return [each for each in asked if not each.startswith(NOT_COUNTED)]


def goes_through_no_table_that_grows(done: list[str]) -> None:
    """Ask SQLite how it finds what statements are about."""
    asked = [each for each in map(str.strip, done) if each.startswith(("SELECT", "UPDATE"))]
    with connection.cursor() as cursor:
        for each in asked:
            cursor.execute(f"EXPLAIN QUERY PLAN {each}")
            scanned = [row[3].split()[1] for row in cursor.fetchall() if row[3].startswith("SCAN")]
            assert GROWING.isdisjoint(scanned), each
    assert len(asked) > 20


def kept() -> dict[str, list[Any]]:
    """Return everything that is kept about the agents."""
    about = {
        "judgements": Judgement.objects.all(),
        "samples": DriftSample.objects.all(),
        "conditions": Condition.objects.filter(resource__kind="Agent"),
        "revisions": ResourceRevision.objects.filter(kind="Agent"),
        "entries": LedgerEvent.objects.filter(subject__startswith="agent/"),
    }
    return {name: list(rows.order_by("pk").values()) for name, rows in about.items()}


def test_a_full_cycle_takes_the_same_statements_however_many_change_in_a_chunk() -> None:
    now = settled(100)
    world.change(range(100), marked=False)
    few = full_cycle(now)
    now = grow(100, 400, now + MINUTE)
    world.change(range(400), marked=False)
    many = full_cycle(now)

    assert Judgement.objects.count() == 400
    assert len(few) == len(many) <= CYCLE + CHUNK, len(few)


def test_a_full_cycle_over_what_has_not_changed_writes_nothing_about_it() -> None:
    now = settled(100)
    full_cycle(now)
    before = kept()

    full_cycle(now + MINUTE)

    assert kept() == before
    assert len(before["judgements"]) == 100


def test_a_cycle_in_which_nothing_changed_takes_the_same_statements_at_any_size() -> None:
    now = settled(20)
    few = statements(now)
    now = grow(20, 120, now + MINUTE)
    many = statements(now)

    assert Judgement.objects.count() == 120
    assert len(few) == len(many) <= CYCLE, len(few)


@pytest.mark.sqlite
def test_a_cycle_in_which_nothing_changed_goes_through_no_table_that_grows() -> None:
    goes_through_no_table_that_grows(statements(settled(20)))


@pytest.mark.sqlite
def test_a_cycle_after_a_change_goes_through_no_table_that_grows() -> None:
    now = settled(40)
    world.change([3, 7], marked=True)

    goes_through_no_table_that_grows(statements(now))


def test_what_changed_is_all_that_is_read() -> None:
    now = settled(200)
    world.change([3, 7], marked=True)

    (cycle,) = subjects.work(now)

    assert cycle.counts["judged"] == cycle.counts["changed"] == 2
