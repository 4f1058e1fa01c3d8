"""Checkpoints: signed, copied outside, and proof against whoever owns the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction

from resources.documents.canonical import canonical, digest
from resources.store import evidence
from resources.tables import ledger
from resources.tables.ledger import Entry
from resources.tables.models import Checkpoint
from tests.conftest import Clock
from tests.resources.making import ALICE
from tests.resources.tampering import (
    cut_tail,
    found,
    rewrite_history,
    undetected,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("signed_ledger")]

CHECKPOINT_FIELDS: dict[str, Any] = {
    "number": 9,
    "after": 1,
    "upto": 10**12,
    "count": 99,
    "root": "0" * 64,
    "previous": "1" * 64,
    "at": "1999-01-01 00:00:00+00:00",
    "public_key": "0" * 64,
    "signature": "0" * 128,
}


def test_every_field_is_part_of_the_matrix() -> None:
    assert {"id", *CHECKPOINT_FIELDS} == {each.attname for each in Checkpoint._meta.fields}


def test_a_cut_tail_with_a_repaired_head_is_found_by_the_checkpoint(
    tamper: Callable[..., None],
) -> None:
    cut_tail(tamper)

    assert evidence.verify().findings == ["Checkpoint 2 signed other entries than these."]


def test_a_cut_tail_without_its_checkpoint_is_found_by_the_outside_copy(
    tamper: Callable[..., None],
) -> None:
    cut_tail(tamper)
    tamper("DELETE FROM resources_checkpoint WHERE number = 2")

    assert evidence.verify().findings == [
        "Checkpoint 2 is not in the database as it was sent out."
    ]


def test_a_history_rewritten_to_the_end_is_found(tamper: Callable[..., None]) -> None:
    rewrite_history(tamper)

    assert evidence.verify().findings == [
        "Checkpoint 1 signed other entries than these.",
        "Checkpoint 2 signed other entries than these.",
    ]


def test_a_history_rewritten_and_signed_with_another_key_is_found(
    tamper: Callable[..., None],
) -> None:
    rewrite_history(tamper)
    key = Ed25519PrivateKey.generate()
    before: Checkpoint | None = None
    for each in Checkpoint.objects.order_by("number"):
        each.root = evidence.merkle_root(evidence.hashes_between(each.after, each.upto))
        each.previous = digest(evidence.statement(before)) if before else ""
        each.public_key = key.public_key().public_bytes_raw().hex()
        each.signature = key.sign(canonical(evidence.statement(each))).hex()
        tamper(
            "UPDATE resources_checkpoint SET root = %s, previous = %s, public_key = %s,"
            " signature = %s WHERE number = %s",
            each.root,
            each.previous,
            each.public_key,
            each.signature,
            each.number,
        )
        before = each
    evidence.outside().unlink()

    assert evidence.verify().findings == [
        "Checkpoint 1 was signed with another key.",
        "Checkpoint 2 was signed with another key.",
    ]


def test_any_changed_field_of_a_checkpoint_is_found(ledger_unprotected: Any) -> None:
    evidence.outside().unlink()
    tampering = [
        [(f"UPDATE resources_checkpoint SET {field} = %s WHERE number = %s", value, number)]  # noqa: S608
        for field, value in CHECKPOINT_FIELDS.items()
        for number in (1, 2)
    ]

    assert undetected(ledger_unprotected, tampering) == []


def test_a_missing_first_checkpoint_is_found(tamper: Callable[..., None]) -> None:
    evidence.outside().unlink()

    tamper("DELETE FROM resources_checkpoint WHERE number = 1")

    assert found()


EDITS: dict[str, Callable[[list[str]], list[str]]] = {
    "changed": lambda lines: [lines[0].replace('"count":6', '"count":5'), lines[1]],
    "torn": lambda lines: [lines[0], lines[1][:-10]],
    "first line gone": lambda lines: [lines[1]],
    "one too many": lambda lines: [*lines, lines[1].replace('"number":2', '"number":3')],
    "no object": lambda lines: [*lines, "[]"],
    "noise": lambda lines: [*lines, "\ufffd"],
    "no number": lambda lines: [lines[0].replace('"number":1', '"number":"x"'), lines[1]],
}


def test_a_changed_outside_copy_is_found() -> None:
    lines = evidence.outside().read_text("utf-8").splitlines()

    missed = []
    for name, edit in EDITS.items():
        evidence.outside().write_text("\n".join(edit(lines)) + "\n", "utf-8")
        missed += [name] if evidence.verify().ok else []

    assert missed == []


def test_the_outside_copy_is_signed_json_lines() -> None:
    lines = [json.loads(line) for line in evidence.outside().read_text("utf-8").splitlines()]

    assert [(each["number"], each["count"]) for each in lines] == [(1, 6), (2, 6)]
    assert all(each["signature"] for each in lines)


def test_what_a_crash_left_out_of_the_copy_is_added_with_the_next(clock: Clock) -> None:
    lines = evidence.outside().read_text("utf-8").splitlines()
    evidence.outside().write_text(lines[0] + "\n", "utf-8")
    with transaction.atomic():
        ledger.append([Entry("a", "x", "y")], actor=ALICE, now=clock.now)

    evidence.checkpoint(clock.now)

    copied = [json.loads(line) for line in evidence.outside().read_text("utf-8").splitlines()]
    assert [each["number"] for each in copied] == [1, 2, 3]
    assert evidence.verify().ok


def test_nothing_new_makes_no_checkpoint(clock: Clock) -> None:
    assert evidence.checkpoint(clock.now) is None
    assert Checkpoint.objects.count() == 2
