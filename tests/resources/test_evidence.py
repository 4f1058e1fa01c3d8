"""Evidence: whatever is done to the entries of the ledger is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction

from resources.store import evidence
from resources.tables import ledger
from resources.tables.ledger import Entry
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.resources.making import ALICE
from tests.resources.tampering import (
    LAST,
    entry,
    forge,
    found,
    set_head,
    undetected,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("signed_ledger")]

FIELDS: dict[str, list[Any]] = {
    "id": [10**12],
    "stream": ["a/other", "b"],
    "seq": [7, 0],
    "previous": ["0" * 64, "", "zz"],
    "hash": ["0" * 64, "", "not hexadecimal"],
    "at": ["2026-11-16 10:00:00.000001+00:00", "1999-01-01 00:00:00+00:00"],
    "event": ["thing.other"],
    "category": ["log"],
    "severity": ["error"],
    "actor": ["person/mallory"],
    "subject": ["thing/z"],
    "correlation_id": ["other"],
    "causation_id": ["1"],
    "payload_digest": ["0" * 64, ""],
    "payload": ['{"n": 2}', "{}", "null", "[]", '{"n": 1, "m": null}', '{"n": 9007199254740993}'],
}


def test_an_untouched_ledger_is_whole() -> None:
    verdict = evidence.verify()

    assert (verdict.ok, verdict.events, verdict.streams, verdict.checkpoints) == (True, 12, 2, 2)


def test_every_field_is_part_of_the_matrix() -> None:
    assert set(FIELDS) == {each.attname for each in LedgerEvent._meta.fields}


def change_a_field() -> Iterator[list[tuple[str, Any, Any]]]:
    """Yield every change of one field of the first, a middle and the last entry."""
    clear = "DELETE FROM resources_ledgerevent WHERE stream = %s AND seq = %s"
    for field, values in FIELDS.items():
        change = f"UPDATE resources_ledgerevent SET {field} = %s WHERE stream = 'a' AND seq = %s"  # noqa: S608
        for seq in (1, 3, LAST):
            for value in values:
                if (field, value, seq) != ("previous", "", 1):
                    # Where the place is taken, somebody would first make room.
                    room = [(clear, value, seq)] if (field, value) == ("stream", "b") else []
                    yield [*room, (change, value, seq)]


def test_any_changed_field_of_any_entry_is_found(ledger_unprotected: Any) -> None:
    """I-94"""
    assert undetected(ledger_unprotected, change_a_field()) == []
    assert evidence.verify().ok


@pytest.mark.sqlite
@pytest.mark.parametrize(("field", "value"), [("at", "soon"), ("at", "2026-99-99")])
def test_what_nobody_can_read_is_a_finding_not_a_crash(
    field: str, value: str, tamper: Callable[..., None]
) -> None:
    tamper(f"UPDATE resources_ledgerevent SET {field} = %s WHERE seq = 2", value)  # noqa: S608

    assert found()


@pytest.mark.parametrize("seq", [1, 3, LAST])
def test_a_deleted_entry_is_found(seq: int, tamper: Callable[..., None]) -> None:
    tamper("DELETE FROM resources_ledgerevent WHERE stream = 'a' AND seq = %s", seq)

    assert found()


def test_two_entries_in_each_others_place_are_found(tamper: Callable[..., None]) -> None:
    swap = "UPDATE resources_ledgerevent SET seq = %s WHERE id = %s"
    second, third = entry(2), entry(3)

    for seq, id_ in ((99, second.id), (2, third.id), (3, second.id)):
        tamper(swap, seq, id_)

    assert found()


def test_a_copied_entry_is_found(tamper: Callable[..., None]) -> None:
    copy = forge(entry(LAST), id=10**12, seq=LAST + 1)

    assert found()
    set_head("a", copy.seq, copy.hash)
    assert found()


def test_an_entry_moved_to_another_stream_is_found(tamper: Callable[..., None]) -> None:
    last = entry(LAST, "b")
    tamper("DELETE FROM resources_ledgerevent WHERE id = %s", last.id)
    before = entry(LAST - 1, "b")
    set_head("b", before.seq, before.hash)
    moved = forge(last, stream="a", seq=LAST + 1, previous=entry(LAST).hash)
    set_head("a", moved.seq, moved.hash)

    assert found()


def test_an_export_holds_every_entry_after_a_position() -> None:
    everything = list(evidence.export())

    rest = list(evidence.export(since=int(everything[3]["id"])))

    assert len(everything) == 12
    assert rest == everything[4:]


def test_an_entry_of_a_megabyte_is_kept_proven_and_exported(clock: Clock) -> None:
    """O-50"""
    payload = {"text": "x" * 2**20}
    with transaction.atomic():
        large = Entry("a", "thing.happened", "thing/a", payload)
        ledger.append([large], actor=ALICE, now=clock.now)

    *_, last = evidence.export()
    assert last["data"] == payload
    assert evidence.verify().ok
