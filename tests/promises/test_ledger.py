"""The ledger: numbered, chained, in CloudEvents, and nobody rewrites it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import pairwise

import pytest

from tests.journeys.product import Product
from tests.promises.callers import Person
from tests.promises.organisation import agent, domain

pytestmark = [pytest.mark.product, pytest.mark.full]


@pytest.fixture(scope="module", autouse=True)
def told(admin: Person) -> None:
    """Let something happen."""
    admin.apply(domain("books"), agent("clerk", "books"))
    for number in range(5):
        admin.patch("domain/books", {"spec": {"purpose": f"Keeps {number}."}})
        admin.report("agent/clerk", {"errorRate": number / 10})


def test_entries_are_cloud_events(admin: Person) -> None:
    """F-58 D-07"""
    for each in admin.events(subject="domain/books"):
        assert each["specversion"] == "1.0"
        for field in ("id", "source", "type", "time", "correlationid", "actor", "hash"):
            assert each[field], field


def test_entries_are_numbered_without_gaps_and_chained(admin: Person) -> None:
    """O-47"""
    found = admin.events(subject="domain/books")
    numbers = [int(each["sequence"]) for each in found]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert all(one["hash"] == two["previous"] for one, two in pairwise(found))
    ids = [int(each["id"]) for each in admin.events()]
    assert ids == sorted(set(ids))


def test_everything_goes_into_it_with_who_and_why(admin: Person) -> None:
    """O-46 I-94"""
    told = [each["type"] for each in admin.events(subject="domain/books")]

    assert told.count("resource.spec-changed") == 5
    assert {each["actor"] for each in admin.events(subject="domain/books")} == {"person/admin"}


def test_nobody_rewrites_it_over_http(admin: Person) -> None:
    """I-94"""
    for verb in ("PUT", "PATCH", "DELETE", "POST"):
        assert admin.call(verb, "events", {}).status_code == 405


def test_a_large_entry_is_read_again(admin: Person) -> None:
    """O-50"""
    notes = ["x" * 60_000] * 2
    admin.apply(domain("archive", notes=notes))

    assert admin.resource("domain/archive")["spec"]["notes"] == notes
    assert admin.read("audit/verify")["ok"]


def test_it_is_verified_and_written_out_by_command(admin: Person, product: Product) -> None:
    """I-94 F-58 O-50"""
    assert product.run("audit", "verify").returncode == 0
    done = product.run("audit", "export")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert {each["specversion"] for each in lines} == {"1.0"}
    assert "resource.spec-changed" in {each["type"] for each in lines}


@pytest.mark.sqlite
def test_what_was_tampered_with_is_found(product: Product) -> None:
    """I-94"""
    with closing(sqlite3.connect(product.data / "ioa.sqlite3")) as database:
        change = "UPDATE resources_ledgerevent SET actor = 'person/nobody'"
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(change)


def test_revisions_only_grow(admin: Person) -> None:
    """O-07"""
    found = [int(e["resourceVersion"]) for e in admin.items("resources/domain/books/revisions")]

    assert found == sorted(set(found), reverse=True)
