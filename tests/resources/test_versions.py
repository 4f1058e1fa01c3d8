"""One counter for every change: a reader "since N" loses nothing and sees nothing twice."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

import pytest
from django.db import transaction

from resources.tables import versions
from resources.tables.models import ResourceRevision
from resources.usecases import watch
from tests.conftest import Clock
from tests.resources.making import apply, live, made
from tests.resources.racing import PATIENCE, Background, together

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.servers]

WRITERS = 6
ROUNDS = 12


class Held:
    """A writer that has taken numbers and keeps its transaction open until told."""

    def __init__(self, now: datetime, name: str, *, keep: bool) -> None:
        self.now, self.name, self.keep = now, name, keep
        self.written, self.release = threading.Event(), threading.Event()
        self.thread = Background(self.write)
        assert self.written.wait(PATIENCE)

    def write(self) -> None:
        with transaction.atomic():
            apply(self.now, made("Domain", self.name))
            self.written.set()
            assert self.release.wait(PATIENCE)
            transaction.set_rollback(not self.keep)

    def end(self) -> None:
        self.release.set()
        self.thread.wait()


@pytest.fixture
def hold(clock: Clock, real_database: None) -> Iterator[Callable[..., Held]]:
    """Return a way to hold transactions open; what is still held ends with the test."""
    held: list[Held] = []

    def begin(name: str, *, keep: bool = True) -> Held:
        held.append(Held(clock.now, name, keep=keep))
        return held[-1]

    yield begin
    for each in held:
        each.end()


def names(page: watch.Page) -> list[str]:
    return [each.document["metadata"]["name"] for each in page.events]


def test_numbers_grow_and_never_repeat() -> None:
    """O-07"""
    with transaction.atomic():
        taken = [*versions.take(3), *versions.take(1), *versions.take(0), *versions.take(600)]

    assert taken == sorted(set(taken))
    assert len(taken) == 604
    assert versions.horizon() == taken[-1]


def test_numbers_rolled_back_do_not_hold_the_reader(clock: Clock) -> None:
    start = watch.current()
    with transaction.atomic():
        versions.take(5)
        transaction.set_rollback(True)
    apply(clock.now, made("Domain", "harbour"))

    page = watch.changes(start)

    assert names(page) == ["harbour"]
    assert page.upto == watch.current()


@pytest.mark.postgres
def test_a_reader_waits_for_an_open_transaction(clock: Clock, hold: Callable[..., Held]) -> None:
    start = watch.current()
    held = hold("held")
    apply(clock.now, made("Domain", "first"))
    apply(clock.now, made("Domain", "second"))

    waiting = watch.changes(start)
    held.end()
    after = watch.changes(waiting.upto)

    assert (waiting.events, waiting.upto) == ([], start)
    assert names(after) == ["held", "first", "second"]
    assert after.upto == live("Domain", "second").resource_version + 1
    assert watch.changes(after.upto).events == []


@pytest.mark.postgres
def test_what_came_before_the_open_transaction_is_not_held_back(
    clock: Clock, hold: Callable[..., Held]
) -> None:
    start = watch.current()
    apply(clock.now, made("Domain", "before"))
    held = hold("held")
    apply(clock.now, made("Domain", "after"))

    first = watch.changes(start)
    held.end()
    second = watch.changes(first.upto)

    assert (names(first), names(second)) == (["before"], ["held", "after"])


@pytest.mark.postgres
def test_of_several_open_transactions_the_oldest_counts(
    clock: Clock, hold: Callable[..., Held]
) -> None:
    start = watch.current()
    held = [hold(name) for name in ("a", "b", "c")]
    cursor, seen = start, []

    for position in (1, 0, 2):
        held[position].end()
        page = watch.changes(cursor)
        seen.append(names(page))
        cursor = page.upto

    assert seen == [[], ["a", "b"], ["c"]]


@pytest.mark.postgres
def test_an_open_transaction_that_fails_holds_nothing_any_more(
    clock: Clock, hold: Callable[..., Held]
) -> None:
    start = watch.current()
    held = hold("held", keep=False)
    apply(clock.now, made("Domain", "kept"))
    assert watch.changes(start).events == []

    held.end()

    assert names(watch.changes(start)) == ["kept"]


@pytest.mark.postgres
def test_an_open_transaction_of_a_reader_holds_nothing(clock: Clock) -> None:
    start = watch.current()
    with transaction.atomic():
        watch.changes(start)
        Background(partial(apply, clock.now, made("Domain", "harbour"))).wait()

        assert names(watch.changes(start)) == ["harbour"]


def test_pages_follow_each_other_without_gap_or_overlap(clock: Clock) -> None:
    start = watch.current()
    apply(clock.now, *(made("Domain", f"d-{n}") for n in range(7)))
    apply(clock.now, made("Agent", "robin"), made("Agent", "wren"))

    cursor, sizes, seen = start, [], []
    while (page := watch.changes(cursor, limit=3)).events:
        sizes.append(len(page.events))
        seen += names(page)
        cursor = page.upto

    assert sizes == [3, 3, 3]
    assert seen == [*(f"d-{n}" for n in range(7)), "robin", "wren"]
    agents = watch.changes(start, kind="Agent")
    assert (names(agents), agents.upto) == (["robin", "wren"], watch.current())


def hammer(clock: Clock, writer: int) -> None:
    """Write again and again: sometimes slowly, sometimes in vain."""
    draw = random.Random(writer)  # noqa: S311
    for step in range(ROUNDS):
        with transaction.atomic():
            documents = [
                made("Domain", f"w{writer}-{n}", {"purpose": f"Step {step}."})
                for n in range(draw.randint(1, 3))
            ]
            apply(clock.now, *documents)
            time.sleep(draw.choice([0, 0, 0.002, 0.01]))
            transaction.set_rollback(draw.random() < 0.25)


def follow(start: int, finished: Callable[[], bool]) -> list[int]:
    """Follow the feed until nobody writes any more, and once more after that."""
    cursor, seen = start, []
    while True:
        last_round = finished()
        page = watch.changes(cursor, limit=7)
        seen += [each.resource_version for each in page.events]
        assert page.upto >= cursor
        cursor = page.upto
        if last_round and not page.events:
            return seen
        time.sleep(0.001)


def test_every_committed_change_is_seen_once_and_in_order(clock: Clock) -> None:
    start = watch.current()
    done = threading.Event()
    reader = Background(partial(follow, start, done.is_set))

    try:
        together([partial(hammer, clock, writer) for writer in range(WRITERS)])
    finally:
        done.set()
    seen = reader.wait()

    committed = ResourceRevision.objects.order_by("resource_version")
    assert seen == list(committed.values_list("resource_version", flat=True))
    assert len(seen) > WRITERS * ROUNDS / 2
