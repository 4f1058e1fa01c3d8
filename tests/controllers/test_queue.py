"""The queue: one item per controller and resource, merged, delayed, retried and parked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from controllers.engine.errors import POISON, NotReady, Permanent, Verdict
from controllers.loop import routing
from controllers.models import Judgement, WorkItem
from controllers.worker import controller_commands
from controllers.workqueue import leases, queue
from resources.tables.models import DirtyMark
from resources.usecases import deletion
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    alerts,
    controller,
    cycles,
    declare,
    domain,
    healthy,
    item,
    judgement,
    measure,
    own,
    runtime,
    told,
    while_judging,
    whole,
    work,
)
from tests.resources.making import ALICE, live, made

pytestmark = pytest.mark.django_db

DELAYS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300)


class Fault:
    """Judging that fails for some domains until it is mended, and counts the looks."""

    def __init__(self, patch: pytest.MonkeyPatch, error: Exception | None, *names: str) -> None:
        self.error = error
        self.names = names
        self.looks: list[str] = []
        while_judging(patch, self.look)

    def look(self, name: str) -> None:
        self.looks.append(name)
        if self.error is not None and name in self.names:
            raise self.error


@pytest.fixture
def harbour(clock: Clock) -> None:
    """One healthy domain, judged, with nothing left to do."""
    declare(clock, controller())
    healthy(clock, "harbour")
    assert len(work(clock)) == 1
    assert work(clock) == []


def test_what_was_done_leaves_no_item(harbour: None) -> None:
    """F-08 F-05"""
    assert item("harbour") is None
    assert list(WorkItem.objects.all()) == [whole()]


@pytest.mark.usefixtures("harbour")
def test_two_edits_before_the_work_are_one_look_at_the_latest(clock: Clock) -> None:
    """F-03"""
    declare(clock, domain("harbour", wanted=150))
    routing.route(clock.now)
    declare(clock, domain("harbour", wanted=200))

    work(clock)

    found = judgement("harbour")
    assert found is not None
    assert found.evidence[0]["desired"] == ">= 200"
    assert found.generation == live("Domain", "harbour").generation == 3


@pytest.mark.usefixtures("harbour")
def test_a_hundred_edits_while_waiting_are_one_cycle(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-16 F-30"""
    fault = Fault(monkeypatch, None)
    for ships in range(100):
        measure(clock, "harbour", ships)
        if ships % 10 == 0:
            routing.route(clock.now)

    waiting = item("harbour")
    assert waiting is not None
    assert waiting.arrivals == 10
    assert len(work(clock)) == 1
    assert work(clock) == []
    assert fault.looks == ["harbour"]


@pytest.mark.usefixtures("harbour")
def test_a_resource_changed_while_its_item_is_worked_on_is_judged_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-17 F-09 X-14 The change is routed during the look, so only the count of arrivals tells."""
    edits = iter([7])

    def edit(_: str) -> None:
        for ships in edits:
            measure(clock, "harbour", ships)
            routing.route(clock.now)

    while_judging(monkeypatch, edit)
    measure(clock, "harbour", 3)

    first, second = work(clock), work(clock)

    assert (len(first), len(second), work(clock)) == (1, 1, [])
    found = judgement("harbour")
    assert found is not None
    assert found.evidence[0]["observed"] == 7
    assert found.version == live("Domain", "harbour").resource_version


@pytest.mark.usefixtures("harbour")
def test_an_item_that_something_arrived_for_is_due_at_once(clock: Clock) -> None:
    """F-09"""
    key, row = live("Controller", KEEPER).pk, live("Domain", "harbour")
    request = queue.Request(queue.CHANGE, clock.now)
    queue.enqueue(key, type(row).objects.filter(pk=row.pk), request)
    (read,) = queue.ready(key, clock.now, queue.USUAL, 0, 10)
    later = queue.Request(queue.DEPENDENCY, clock.advance(minutes=1))
    queue.enqueue(key, type(row).objects.filter(pk=row.pk), later)

    queue.done([read], clock.now)

    left = item("harbour")
    assert left is not None
    assert (left.run_at <= clock.now, left.attempts, left.arrivals) == (True, 0, 2)
    queue.done(queue.ready(key, clock.now, queue.USUAL, 0, 10), clock.now)
    assert item("harbour") is None


@pytest.mark.usefixtures("harbour")
def test_reasons_add_up_in_one_item(clock: Clock) -> None:
    """F-18 F-32"""
    declare(clock, made("Budget", "dues", {"domain": "harbour"}))
    routing.route(clock.now)
    first = item("harbour")
    measure(clock, "harbour", 99)
    routing.route(clock.now)
    second = item("harbour")

    assert first is not None
    assert first.reasons == queue.DEPENDENCY
    assert second is not None
    assert second.reasons == queue.DEPENDENCY | queue.CHANGE
    (cycle,) = work(clock)
    assert cycle.reasons == queue.DEPENDENCY | queue.CHANGE


def test_every_trigger_shows_as_its_reason(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-02 F-32"""
    fault = Fault(monkeypatch, None, "harbour")
    healthy(clock, "harbour")
    declare(clock, controller())
    reasons = [work(clock)[0].reasons]
    declare(clock, domain("harbour", wanted=50))
    reasons += [work(clock)[0].reasons]
    clock.advance(minutes=5)
    reasons += [work(clock)[0].reasons]
    declare(clock, made("Budget", "dues", {"domain": "harbour"}))
    reasons += [work(clock)[0].reasons]
    fault.error = ZeroDivisionError("once")
    measure(clock, "harbour", 99)
    work(clock)
    clock.advance(seconds=2)
    reasons += [work(clock)[0].reasons]
    controller_commands.request(KEEPER, actor=ALICE, now=clock.now, message="Look again.")
    (asked,) = work(clock)

    assert reasons == [
        queue.CHANGE,
        queue.CHANGE,
        queue.INTERVAL,
        queue.DEPENDENCY,
        queue.RETRY,
    ]
    assert asked.reasons & queue.MANUAL
    assert (asked.requested_by, asked.message) == ("person/alice", "Look again.")


@pytest.mark.usefixtures("harbour")
def test_what_is_asked_for_later_runs_then_and_not_before(clock: Clock) -> None:
    """F-10 F-26 X-16"""
    controller_commands.request(KEEPER, actor=ALICE, now=clock.now, after=timedelta(seconds=30))

    clock.advance(seconds=29)
    assert work(clock) == []
    clock.advance(seconds=1)
    (cycle,) = work(clock)
    assert cycle.reasons & queue.MANUAL
    assert work(clock) == []


def test_failures_are_retried_after_growing_delays(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-12 F-20 X-18 The last ones are past the point where a poisoned item is parked."""
    monkeypatch.setattr("controllers.engine.errors.POISON", 100)
    Fault(monkeypatch, ZeroDivisionError("always"), "harbour")
    declare(clock, controller(reconcileInterval="7d"))
    healthy(clock, "harbour")
    waits = []
    for attempt in range(len(DELAYS)):
        assert len(work(clock)) == 1
        waiting = item("harbour")
        assert waiting is not None
        assert waiting.attempts == attempt + 1
        waits.append((waiting.run_at - clock.now).total_seconds())
        clock.now = waiting.run_at - timedelta(microseconds=1)
        assert work(clock) == []
        clock.advance(microseconds=1)

    for wait, delay in zip(waits, DELAYS, strict=True):
        assert delay <= wait <= delay * 1.1
    assert waits != list(DELAYS)


def test_a_success_forgets_the_failures(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-21"""
    fault = Fault(monkeypatch, ZeroDivisionError("at first"), "harbour")
    declare(clock, controller())
    healthy(clock, "harbour")
    for _ in range(3):
        work(clock)
        clock.advance(seconds=10)
    fault.error = None
    work(clock)
    assert item("harbour") is None

    fault.error = ZeroDivisionError("again")
    measure(clock, "harbour", 99)
    work(clock)

    waiting = item("harbour")
    assert waiting is not None
    assert waiting.attempts == 1
    assert timedelta(seconds=1) <= waiting.run_at - clock.now <= timedelta(seconds=1.1)


def test_one_that_fails_delays_nobody_else(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-19 O-41"""
    fault = Fault(monkeypatch, ZeroDivisionError("always"), "bad")
    declare(clock, controller())
    names = [f"good-{number}" for number in range(9)]
    healthy(clock, "bad", *names)
    (cycle,) = work(clock)
    assert cycle.outcome == "partial"
    assert [own(name).status for name in names] == ["True"] * 9  # type: ignore[union-attr]

    measure(clock, "bad", 1)
    measure(clock, "good-0", 1)
    fault.looks.clear()
    work(clock)

    found = judgement("good-0")
    assert found is not None
    assert found.drifted
    assert fault.looks == ["good-0"]


def test_a_permanent_error_parks_until_a_new_generation(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-34"""
    fault = Fault(monkeypatch, Permanent("Names nothing."), "harbour")
    declare(clock, controller())
    healthy(clock, "harbour")
    work(clock)
    parked = item("harbour")
    assert parked is not None
    assert parked.parked_at == clock.now

    for _ in range(4):
        measure(clock, "harbour", clock.now.minute)
        clock.advance(minutes=5)
        work(clock)
    assert fault.looks == ["harbour"]

    fault.error = None
    declare(clock, domain("harbour", wanted=1))
    work(clock)
    assert fault.looks == ["harbour"] * 2
    assert item("harbour") is None
    found = judgement("harbour")
    assert found is not None
    assert found.status == "True"


def test_a_new_generation_does_not_wait_for_the_failures_of_the_old_one(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-34 F-19 Somebody mended it; what is only measured anew goes on waiting."""
    fault = Fault(monkeypatch, ZeroDivisionError("always"), "harbour")
    declare(clock, controller())
    healthy(clock, "harbour")
    for _ in range(4):
        work(clock)
        clock.advance(seconds=5)
    fault.looks.clear()
    measure(clock, "harbour", 99)
    assert (work(clock), fault.looks) == ([], [])

    fault.error = None
    declare(clock, domain("harbour", wanted=90))
    work(clock)

    assert fault.looks == ["harbour"]
    assert item("harbour") is None


def test_a_person_frees_what_is_parked(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-34 F-25"""
    fault = Fault(monkeypatch, Permanent("Names nothing."), "harbour")
    declare(clock, controller())
    healthy(clock, "harbour")
    work(clock)
    fault.error = None

    controller_commands.request(KEEPER, actor=ALICE, now=clock.now)
    work(clock)

    assert fault.looks == ["harbour"] * 2
    assert item("harbour") is None


def test_what_is_not_ready_comes_again_and_is_not_counted(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-35"""
    fault = Fault(monkeypatch, NotReady("Still starting."), "harbour")
    declare(clock, controller())
    healthy(clock, "harbour")
    for _ in range(POISON + 2):
        work(clock)
        waiting = item("harbour")
        assert waiting is not None
        assert (waiting.attempts, waiting.parked_at) == (0, None)
        assert waiting.run_at == clock.now + timedelta(seconds=10)
        clock.advance(seconds=9)
        assert work(clock) == []
        clock.advance(seconds=1)

    assert fault.looks == ["harbour"] * (POISON + 2)
    assert (runtime().failures, runtime().breaker) == (0, "closed")


def poison(clock: Clock, most: int = 100) -> int:
    """Work until the item of the bad domain is parked; return how many cycles that took."""
    for number in range(1, most):
        work(clock)
        waiting = item("bad")
        assert waiting is not None
        if waiting.parked_at is not None:
            return number
        clock.now = min(waiting.run_at, whole().run_at)
    raise AssertionError("It was never parked.")


@pytest.mark.parametrize("interval", ["7d", "5m", "30s"])
def test_poison_is_parked_and_the_worker_lives(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, interval: str
) -> None:
    """F-37 O-41 However often everything is looked at, the tries are counted on."""
    fault = Fault(monkeypatch, SystemError("panic"), "bad")
    declare(clock, controller(reconcileInterval=interval))
    healthy(clock, "bad", "good")

    poison(clock)

    assert fault.looks.count("bad") == POISON
    found = judgement("good")
    assert found is not None
    assert found.status == "True"
    unknown = own("bad")
    assert unknown is not None
    assert (unknown.status, unknown.reason) == ("Unknown", "CompareError")
    assert len(told("controller.error", subject="domain/bad")) == POISON
    assert [each.message for each in alerts() if each.resource == live("Domain", "bad")]


def test_what_is_parked_stays_so_through_sweeps(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-37"""
    fault = Fault(monkeypatch, SystemError("panic"), "bad")
    declare(clock, controller())
    healthy(clock, "bad", "good")
    poison(clock)
    fault.looks.clear()

    for _ in range(3):
        clock.advance(minutes=5)
        work(clock)

    parked = item("bad")
    assert parked is not None
    assert parked.parked_at is not None
    assert set(fault.looks) == {"good"}


def test_a_parked_resource_that_is_deleted_is_forgotten(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-34 I-72"""
    Fault(monkeypatch, Permanent("Names nothing."), "bad")
    declare(clock, controller())
    healthy(clock, "bad", "good")
    work(clock)
    assert runtime().unknown == 1

    deletion.delete("Domain", "bad", actor=ALICE, now=clock.now)
    work(clock)

    assert list(WorkItem.objects.all()) == [whole()]
    assert Judgement.objects.get().resource == live("Domain", "good")
    assert (runtime().healthy, runtime().unknown) == (1, 0)


def test_a_parked_resource_that_leaves_the_selector_is_forgotten(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-34 I-72"""
    Fault(monkeypatch, Permanent("Names nothing."), "bad")
    selector = {"matchLabels": {"sea": "north"}}
    declare(clock, controller(targetSelector=selector), domain("bad", labels={"sea": "north"}))
    work(clock)
    assert runtime().unknown == 1

    declare(clock, domain("bad", labels={"sea": "south"}))
    work(clock)

    assert list(WorkItem.objects.all()) == [whole()]
    assert (runtime().watched, own("bad")) == (0, None)


def test_a_failure_that_an_edit_overtook_is_neither_parked_nor_delayed(clock: Clock) -> None:
    """F-17 F-34 The edit may have mended it, and was counted before the failure was written."""
    declare(clock, controller())
    healthy(clock, "harbour")
    routing.route(clock.now)
    work(clock)
    key, row = live("Controller", KEEPER).pk, live("Domain", "harbour")
    wanted = type(row).objects.filter(pk=row.pk)
    queue.enqueue(key, wanted, queue.Request(queue.CHANGE, clock.now))
    (read,) = queue.ready(key, clock.now, queue.USUAL, 0, 10)
    queue.enqueue(key, wanted, queue.Request(queue.CHANGE, clock.now))
    parked = Verdict(None, counts=True, parked=True)

    queue.failed(key, [queue.Failure(row.pk, 1, 1, "No.", parked, read.arrivals)], clock.now)

    left = item("harbour")
    assert left is not None
    assert (left.parked_at, left.run_at <= clock.now) == (None, True)


def test_urgent_work_goes_first(clock: Clock) -> None:
    """D-51"""
    for name in ("first", "second"):
        declare(clock, controller(name))
    assert len(work(clock)) == 2
    clock.advance(seconds=1)
    for name in ("first", "second"):
        key = live("Controller", name).pk
        urgency = queue.URGENT if name == "second" else queue.USUAL
        queue.enqueue_whole(key, queue.Request(queue.MANUAL, clock.now, urgency))

    assert [cycle.controller.name for cycle in work(clock)] == ["second", "first"]


def test_nothing_is_routed_twice(harbour: None, clock: Clock) -> None:
    measure(clock, "harbour", 9)

    assert routing.route(clock.now) == 1
    assert routing.route(clock.now) == 0
    assert not DirtyMark.objects.exists()


def test_work_that_another_holds_is_left_to_it(harbour: None, clock: Clock) -> None:
    """F-18"""
    measure(clock, "harbour", 9)
    lease = leases.take(live("Controller", KEEPER).pk, "other", clock.now)
    assert lease is not None

    assert work(clock) == []
    assert item("harbour") is not None
    leases.release(lease)
    assert len(work(clock)) == 1
    assert len(cycles()) == 2
