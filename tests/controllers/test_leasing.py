"""Leases: one worker runs a controller at a time, and one that was replaced cannot write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from controllers.engine.errors import Fenced
from controllers.loop import cycle_run as running
from controllers.loop import registration
from controllers.loop.cycle_run import Means
from controllers.models import Cycle, Runtime
from controllers.workqueue import leases
from controllers.workqueue.leases import TERM, Lease
from resources.store import evidence
from resources.usecases import deletion
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    alerts,
    controller,
    cycles,
    declare,
    domain,
    drifted,
    healthy,
    judgement,
    measure,
    own,
    runtime,
    told,
    while_judging,
    work,
)
from tests.resources.making import ALICE, everything, live
from tests.resources.racing import together

pytestmark = pytest.mark.servers


@pytest.fixture
def key(clock: Clock, db: None) -> int:
    """A registered controller without anything to watch."""
    declare(clock, controller())
    registration.sync(clock.now)
    return live("Controller", KEEPER).pk


def test_a_lease_is_held_until_its_term_is_over(clock: Clock, key: int) -> None:
    """O-30"""
    assert leases.take(key, "first", clock.now) is not None
    assert leases.take(key, "second", clock.now) is None
    assert leases.take(key, "first", clock.now) is None

    clock.advance(seconds=TERM.total_seconds() - 1)
    assert leases.take(key, "second", clock.now) is None
    clock.advance(seconds=1)
    assert leases.take(key, "second", clock.now) is not None


def test_each_holder_has_a_larger_token(clock: Clock, key: int) -> None:
    """O-36"""
    tokens = []
    for holder in ("first", "second", "first"):
        lease = leases.take(key, holder, clock.now)
        assert lease is not None
        assert runtime().holder == holder
        tokens.append(lease.token)
        leases.release(lease)

    assert tokens == sorted(set(tokens))
    assert (runtime().holder, runtime().leased_until) == ("", None)


def test_holding_prolongs(clock: Clock, key: int) -> None:
    """O-30"""
    lease = leases.take(key, "first", clock.now)
    assert lease is not None
    for _ in range(3):
        leases.hold(lease, clock.advance(seconds=59))

    assert leases.take(key, "second", clock.now) is None


def test_a_lease_is_kept_in_good_time_and_not_at_every_step(clock: Clock, key: int) -> None:
    lease = leases.take(key, "first", clock.now)
    assert lease is not None
    taken = clock.now

    assert leases.keep(lease, taken, clock.advance(seconds=19)) == taken
    assert runtime().leased_until == taken + TERM
    assert leases.keep(lease, taken, clock.advance(seconds=1)) == clock.now
    assert runtime().leased_until == clock.now + TERM


def test_who_was_replaced_can_neither_hold_nor_release(clock: Clock, key: int) -> None:
    """O-36"""
    old = leases.take(key, "old", clock.now)
    new = leases.take(key, "new", clock.advance(seconds=61))
    assert old is not None
    assert new is not None

    leases.release(old)
    assert runtime().holder == "new"
    with pytest.raises(Fenced):
        leases.hold(old, clock.now)
    with pytest.raises(Fenced):
        leases.keep(old, clock.now - TERM, clock.now)
    leases.hold(new, clock.now)


def test_nobody_takes_what_cannot_run(clock: Clock, key: int) -> None:
    Runtime.objects.update(breaker=Runtime.Breaker.OPEN)
    assert leases.take(key, "first", clock.now) is None
    Runtime.objects.update(breaker=Runtime.Breaker.CLOSED, problem="Names nothing.")
    assert leases.take(key, "first", clock.now) is None
    assert leases.take(key + 1, "first", clock.now) is None


def test_of_eight_who_take_one_wins(clock: Clock, real_database: None) -> None:
    """O-30 F-24 A-02 A-25 X-24"""
    declare(clock, controller())
    registration.sync(clock.now)
    key = live("Controller", KEEPER).pk

    for _ in range(5):
        taken = together([partial(leases.take, key, f"w{n}", clock.now) for n in range(8)])
        (won,) = [each for each in taken if each is not None]
        assert (runtime().holder, runtime().token) == (won.holder, won.token)
        clock.advance(seconds=TERM.total_seconds())


def replaced(clock: Clock, patch: pytest.MonkeyPatch, event: Callable[[], Any]) -> list[Cycle]:
    """Run a cycle during whose first look something happens."""
    events = iter([event])

    def happen(_: str) -> None:
        for each in events:
            each()

    while_judging(patch, happen)
    return work(clock, "old")


def test_who_was_replaced_writes_nothing(
    clock: Clock, real_database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-36 A-27"""
    declare(clock, controller())
    drifted(clock, "harbour")
    registration.sync(clock.now)
    seen: dict[str, Any] = {}

    def take_over() -> None:
        clock.advance(seconds=61)
        work(clock, "new")
        seen.update(rows=everything(), cycles=cycles(), alerts=alerts(), runtime=runtime())

    assert replaced(clock, monkeypatch, take_over) == []

    assert everything() == seen["rows"]
    assert (cycles(), alerts(), runtime()) == (seen["cycles"], seen["alerts"], seen["runtime"])
    assert [(each.holder, each.outcome) for each in cycles()] == [
        ("old", "lost"),
        ("new", "drift_reported"),
    ]
    assert len(told("controller.reconciliation-completed")) == 2
    assert len(told("controller.drift-detected")) == 1
    assert evidence.verify().ok


def test_a_long_look_without_news_keeps_its_lease(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    """A-27 Nothing is written for minutes, and still nobody takes over."""
    monkeypatch.setattr(running, "CHUNK", 1)
    declare(clock, controller())
    healthy(clock, *(f"d{number}" for number in range(8)))
    work(clock)
    clock.advance(minutes=5)
    rivals: list[Lease | None] = []

    def look(_: str) -> None:
        clock.advance(seconds=40)
        rivals.append(leases.take(live("Controller", KEEPER).pk, "rival", clock.now))

    while_judging(monkeypatch, look)
    (cycle,) = work(clock)

    assert (cycle.outcome, rivals) == ("converged", [None] * 8)


def test_a_controller_declared_anew_stops_the_cycle_of_the_old_one(
    clock: Clock, real_database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-04 O-36"""
    declare(clock, controller())
    healthy(clock, "harbour")

    def declare_anew() -> None:
        declare(clock, controller(reconcileInterval="1m"))
        registration.sync(clock.now)

    assert replaced(clock, monkeypatch, declare_anew) == []

    (old,) = cycles()
    assert (old.outcome, old.finished_at) == ("superseded", clock.now)
    assert (judgement("harbour"), own("harbour")) == (None, None)
    assert [each.payload["outcome"] for each in told("controller.reconciliation-completed")] == [
        "superseded"
    ]
    assert len(work(clock)) == 1


def test_a_deleted_controller_ends_its_cycle(
    clock: Clock, real_database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-07"""
    declare(clock, controller())
    healthy(clock, "harbour")

    def delete() -> None:
        deletion.delete("Controller", KEEPER, actor=ALICE, now=clock.now)
        registration.sync(clock.now)

    assert replaced(clock, monkeypatch, delete) == []

    (old,) = cycles()
    assert old.outcome == "superseded"
    assert own("harbour") is None
    assert work(clock) == []
    assert not Runtime.objects.exists()


def test_a_controller_that_loses_every_worker_is_stopped(clock: Clock, db: None) -> None:
    """A-27 I-100 The cycle that finds it out says so and looks at nothing."""
    declare(clock, controller(convergence={"errorLimit": 3}), domain("harbour"))
    registration.sync(clock.now)
    key = live("Controller", KEEPER).pk
    for _ in range(3):
        lease = leases.take(key, "doomed", clock.now)
        assert lease is not None
        lose(lease, clock)
        clock.advance(seconds=61)

    (last,) = work(clock)

    assert [each.outcome for each in cycles()] == ["lost", "lost", "lost", "failed"]
    assert (last.error, runtime().breaker) == ("Blocked: Workers were lost.", "open")
    assert judgement("harbour") is None
    assert [each.reason for each in alerts()] == ["BreakerOpen"]
    assert len(told("controller.breaker-opened")) == 1
    ready = own(KEEPER, "Ready", "Controller")
    assert ready is not None
    assert ready.reason == "CircuitOpen"
    clock.advance(hours=1)
    measure(clock, "harbour", 1)
    assert work(clock) == []


class Killed(BaseException):
    """The end of a process, as far as one process can tell it of itself."""


def lose(lease: Lease, clock: Clock) -> None:
    """Begin a cycle and never end it."""

    def die(_: Any) -> Any:
        raise Killed

    with pytest.raises(Killed):
        running.run(lease, Means(clock=lambda: clock.now, effects=die))


def test_a_lost_cycle_is_taken_over_when_its_lease_is_over(clock: Clock, key: int) -> None:
    """A-27 O-30"""
    healthy(clock, "harbour")
    lease = leases.take(key, "doomed", clock.now)
    assert lease is not None
    lose(lease, clock)

    clock.advance(seconds=59)
    assert work(clock) == []
    clock.advance(seconds=1)
    (cycle,) = work(clock)

    assert cycle.outcome == "converged"
    assert [each.outcome for each in cycles()] == ["lost", "converged"]
    assert cycle.started_at - cycles()[0].started_at == timedelta(seconds=60)
    assert runtime().failures == 0
