"""The ledger: chained, gap-free, true together with what it describes, and append-only."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.documents.actor import SYSTEM
from resources.store import evidence
from resources.tables import ledger
from resources.tables.ledger import Entry
from resources.tables.models import LedgerEvent, LedgerStream, Resource
from resources.usecases import deletion
from tests.conftest import Clock
from tests.resources.making import ALICE, apply, made, report
from tests.tiers import examples

pytestmark = pytest.mark.servers

TABLES = ("resources_ledgerevent", "resources_checkpoint")


def append(clock: Clock, *streams: str) -> list[LedgerEvent]:
    entries = [Entry(stream, "thing.happened", "thing/a", {"n": 1}) for stream in streams]
    with transaction.atomic():
        return ledger.append(entries, actor=ALICE, now=clock.now)


@pytest.mark.django_db
def test_each_stream_is_a_chain_without_gaps(clock: Clock) -> None:
    """O-47"""
    append(clock, "a", "b", "a")
    append(clock, "b", "a")

    for name, length in (("a", 3), ("b", 2)):
        events = list(LedgerEvent.objects.filter(stream=name).order_by("seq"))
        assert [each.seq for each in events] == list(range(1, length + 1))
        assert [each.previous for each in events] == ["", *(each.hash for each in events[:-1])]
        assert all(each.hash == ledger.hash_of(each) for each in events)
        head = LedgerStream.objects.get(name=name)
        assert (head.seq, head.head) == (length, events[-1].hash)


@pytest.mark.django_db
def test_ids_follow_the_global_order(clock: Clock) -> None:
    """O-47"""
    events = [*append(clock, "a", "b"), *append(clock, "a")]

    ids = [each.id for each in events]
    assert ids == sorted(set(ids))


@pytest.mark.django_db
def test_one_call_tells_one_story_and_a_given_story_is_kept(clock: Clock) -> None:
    """D-07"""
    first, second = append(clock, "a", "b")
    token = ledger.correlation.set("story-7")
    try:
        third = append(clock, "a")[0]
    finally:
        ledger.correlation.reset(token)

    assert first.correlation_id == second.correlation_id != ""
    assert third.correlation_id == "story-7"


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_nothing_is_written(clock: Clock) -> None:
    with pytest.raises(RuntimeError, match="in the transaction"):
        ledger.append([Entry("a", "x", "y")], actor=SYSTEM, now=clock.now)
    assert not LedgerEvent.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_change_rolled_back_leaves_no_entry_and_no_gap(clock: Clock) -> None:
    append(clock, "a")
    with transaction.atomic():
        append(clock, "a", "b")
        apply(clock.now, made("Domain", "harbour"))
        transaction.set_rollback(True)
    append(clock, "a")

    assert [each.seq for each in LedgerEvent.objects.order_by("id")] == [1, 2]
    assert not Resource.objects.exists()
    assert evidence.verify().ok


@pytest.mark.django_db(transaction=True)
def test_without_its_entry_there_is_no_change(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-46"""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(ledger, "advance", refuse)
    with pytest.raises(OSError, match="disk full"):
        apply(clock.now, made("Domain", "harbour"))
    assert not Resource.objects.exists()
    assert not LedgerEvent.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_the_database_refuses_to_change_it(clock: Clock, table: str, statement: str) -> None:
    """I-94"""
    append(clock, "a")
    evidence.checkpoint(clock.now)

    with (
        pytest.raises(DatabaseError, match="append-only"),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(table))
    assert evidence.verify().ok


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", TABLES)
def test_postgresql_refuses_to_empty_it(clock: Clock, table: str) -> None:
    append(clock, "a")

    with (
        pytest.raises(DatabaseError, match="append-only"),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"TRUNCATE {table}")
    assert LedgerEvent.objects.count() == 1


@pytest.mark.django_db
def test_the_orm_cannot_change_it_either(clock: Clock) -> None:
    event = append(clock, "a")[0]
    event.actor = "person/mallory"

    for act in (event.save, event.delete, LedgerEvent.objects.all().delete):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()


@pytest.mark.django_db
def test_cloudevents_have_what_the_standard_asks(clock: Clock) -> None:
    """F-58"""
    entry = Entry("resource/7", "thing.happened", "thing/a", {"n": 1}, causation_id="41")
    event = ledger.append([entry], actor=ALICE, now=clock.now)[0]

    document = ledger.as_cloudevent(event)

    assert {
        key: document[key] for key in ("specversion", "type", "source", "subject", "time")
    } == {
        "specversion": "1.0",
        "type": "thing.happened",
        "source": "/ioa/resource/7",
        "subject": "thing/a",
        "time": "2026-11-16T10:00:00Z",
    }
    assert (document["id"], document["data"]) == (str(event.id), {"n": 1})
    assert document["causationid"] == "41"
    assert all(key.isascii() and key.isalnum() and key == key.lower() for key in document)
    assert all(isinstance(document[key], str) for key in document if key != "data")


@pytest.mark.django_db
def test_without_a_cause_none_is_named(clock: Clock) -> None:
    assert "causationid" not in ledger.as_cloudevent(append(clock, "a")[0])


NAMES = st.sampled_from(["robin", "wren", "heron"])
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["apply", "label", "report", "delete", "domain"]), NAMES),
    max_size=12,
)


def operate(clock: Clock, operation: str, name: str) -> None:
    now = clock.advance(minutes=1)
    if operation == "delete":
        if Resource.objects.filter(name=name, deleted_at=None).exists():
            deletion.delete("Agent", name, actor=ALICE, now=now)
    elif operation == "report":
        report(now, name, {"errorRate": clock.now.minute})
    elif operation == "domain":
        apply(now, made("Domain", "harbour", {"agents": [name]}))
    else:
        labels = {"labels": {"seen": str(now.minute)}} if operation == "label" else {}
        apply(now, made("Agent", name, {"purpose": operation}, metadata=labels))


@pytest.mark.django_db
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS)
def test_an_untouched_ledger_always_verifies(
    clock: Clock, operations: list[tuple[str, str]]
) -> None:
    with transaction.atomic():
        for operation, name in operations:
            operate(clock, operation, name)
        verdict = evidence.verify()
        count = LedgerEvent.objects.count()
        transaction.set_rollback(True)

    assert (verdict.findings, verdict.events) == ([], count)
