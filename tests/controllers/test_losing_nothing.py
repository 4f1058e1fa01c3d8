"""Whatever happens at once: nothing is lost, nothing runs twice, nobody's edit is overwritten."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from controllers import execution
from controllers.engine import cycle as engine
from controllers.engine.terms import Action, Case, Renewed, Result, Snapshot
from controllers.engine.watch import JudgedSnapshot
from controllers.loop import (
    chunk_writer,
    cycle_end,
    cycle_run,
    registration,
    restore_watch,
    routing,
)
from controllers.loop.cycle_run import Means
from controllers.models import Cycle, Judgement, Runtime, WorkItem
from controllers.worker import controller_commands, worker_loop
from controllers.workqueue import compiled_controllers
from controllers.workqueue.concurrent_changes import Moved, moved_on
from controllers.workqueue.cycle_effects import Effects
from resources.documents.actor import SYSTEM
from resources.store import announcements, evidence, indexes, store
from resources.tables.models import DirtyMark, Resource
from resources.usecases import deletion, statuses
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    KEPT,
    alerts,
    controller,
    declare,
    domain,
    drifted,
    healthy,
    item,
    judged,
    judgement,
    measure,
    own,
    runtime,
    told,
    while_judging,
    work,
)
from tests.controllers.making import cycles as recorded
from tests.resources.making import ALICE, live, made
from tests.resources.racing import PATIENCE, Background, together
from tests.tiers import quick_first

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.servers]

# What the harbour is measured against: one rule.
RULES = {"domain": "harbour", "agentIdentity": {"required": True, "method": "token"}}
ALERTING = {"onDrift": [{"type": "alert", "severity": "error", "channels": ["ops"]}]}


@pytest.fixture(autouse=True)
def all_is_whole_after_all(real_database: None) -> Iterator[None]:
    """Whatever was done: the ledger holds, and what is counted is what is there."""
    yield
    assert evidence.verify().findings == []
    assert not Cycle.objects.filter(finished_at=None).exists()
    for each in Runtime.objects.all():
        words = Counter(each.controller.judgements.values_list("status", flat=True))
        assert (each.healthy, each.drifted, each.unknown) == (
            words["True"],
            words["False"],
            words["Unknown"],
        )


def violate(clock: Clock) -> None:
    """Report that the one rule of the harbour is violated."""
    report = statuses.Report("SecurityPolicy", "rules", {"violations": 1})
    assert not statuses.observe([report], actor=SYSTEM, now=clock.now)[0].failed


def rest(clock: Clock) -> None:
    """Work until nothing is left to do."""
    for _ in range(20):
        if not work(clock):
            return
    raise AssertionError("There is always something left to do.")


class Probe:
    """Sees every look at a resource until its cycle has ended, in whatever thread it is."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.lock = threading.Lock()
        self.looked: Counter[tuple[str, str]] = Counter()
        self.inside: dict[tuple[str, str], int] = {}
        self.twice: list[tuple[str, str]] = []
        self.consider, self.run = engine.consider, cycle_run.run
        patch.setattr(engine, "consider", self.look)
        patch.setattr(cycle_run, "run", self.cycle)

    def look(
        self, given: engine.Pass, seen: JudgedSnapshot, stopwatch: engine.Stopwatch
    ) -> Case | Renewed:
        pair, me = (given.controller.name, seen[0].target.name), threading.get_ident()
        with self.lock:
            self.looked[pair] += 1
            if self.inside.setdefault(pair, me) != me:
                self.twice.append(pair)
        return self.consider(given, seen, stopwatch)

    def cycle(self, *given: Any) -> Cycle:
        try:
            return self.run(*given)
        finally:
            with self.lock:
                mine = [key for key, me in self.inside.items() if me == threading.get_ident()]
                for pair in mine:
                    del self.inside[pair]


def change_at_random(clock: Clock, seed: int, names: list[str], steps: int) -> None:
    """Declare and measure domains that others change and controllers judge at the same time."""
    draw = random.Random(seed)  # noqa: S311
    for _ in range(steps):
        chosen = draw.sample(names, 3)
        if draw.random() < 0.5:
            declare(clock, *(domain(name, wanted=draw.randrange(50, 150)) for name in chosen))
        else:
            for name in chosen:
                measure(clock, name, draw.randrange(50, 150))


def test_no_pair_is_judged_twice_at_once_and_every_change_is_judged(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-18 F-24 F-17 A-02 A-38"""
    workers, writers = (8, 4) if connection.vendor == "postgresql" else (4, 2)
    names = [f"d-{number:02}" for number in range(12)]
    declare(clock, controller("first"), controller("second"))
    healthy(clock, *names)
    probe, done = Probe(monkeypatch), threading.Event()

    def toil(holder: str) -> None:
        while not done.is_set():
            work(clock, holder)

    toiling = [Background(partial(toil, f"w{number}")) for number in range(workers)]
    try:
        together(
            [partial(change_at_random, clock, seed, names, steps=6) for seed in range(writers)]
        )
    finally:
        done.set()
    for each in toiling:
        each.wait()
    rest(clock)

    assert probe.twice == []
    for name in names:
        row = live("Domain", name)
        edits = row.revisions.exclude(actor__startswith="controller/")
        last = edits.latest("resource_version").resource_version
        wanted = row.spec["kpis"][0]["target"]["value"]
        short = row.status["kpis"][0]["value"] < wanted
        for keeper in ("first", "second"):
            found = judgement(name, keeper)
            assert found is not None
            assert found.version >= last
            assert (found.generation, found.drifted) == (row.generation, short)
    assert not DirtyMark.objects.exists()


def test_each_of_a_thousand_items_is_worked_on_once(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-24 Ten controllers with a hundred domains each, and four workers."""
    teams = [f"team-{number}" for number in range(10)]
    names = {team: [f"{team}-{number:02}" for number in range(100)] for team in teams}
    for team in teams:
        selector = {"matchLabels": {"team": team}}
        declare(clock, controller(team, targetSelector=selector))
        declare(clock, *(domain(name, labels={"team": team}) for name in names[team]))
    registration.sync(clock.now)
    routing.route(clock.now)
    assert WorkItem.objects.exclude(resource__kind="Controller").count() == 1_000
    probe = Probe(monkeypatch)

    done = together([partial(work, clock, f"w{number}") for number in range(4)])

    assert probe.looked == Counter((team, name) for team in teams for name in names[team])
    assert sum(len(each) for each in done) == 10
    assert not WorkItem.objects.exclude(resource__kind="Controller").exists()
    assert Judgement.objects.count() == 1_000


class Holding(threading.Thread):
    """Somebody who writes and takes long to commit."""

    def __init__(self, action: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.action = action
        self.holding, self.release = threading.Event(), threading.Event()

    def run(self) -> None:
        with transaction.atomic():
            self.action()
            self.holding.set()
            self.release.wait(PATIENCE)
        connection.close()


@pytest.mark.postgres
@pytest.mark.parametrize("how", ["declared", "measured", "created", "violated"])
def test_a_change_that_commits_after_the_cycle_is_judged(clock: Clock, how: str) -> None:
    """F-17 F-03"""
    declare(clock, controller(), made("SecurityPolicy", "rules", RULES))
    healthy(clock, "harbour", "depot")
    rest(clock)
    changes: dict[str, Callable[[], None]] = {
        "declared": lambda: declare(clock, domain("harbour", wanted=150)),
        "measured": lambda: measure(clock, "harbour", 40),
        "created": lambda: declare(clock, domain("lagoon")),
        "violated": lambda: violate(clock),
    }
    holder = Holding(changes[how])
    holder.start()
    assert holder.holding.wait(PATIENCE)

    measure(clock, "depot", 30)
    assert len(work(clock)) == 1
    assert work(clock) == []
    controller_commands.request(KEEPER, actor=ALICE, now=clock.now)
    assert len(work(clock)) == 1
    before = judgement("harbour")
    assert before is not None
    assert not before.drifted
    holder.release.set()
    holder.join(PATIENCE)

    assert len(work(clock)) == 1
    found = judgement("lagoon" if how == "created" else "harbour")
    assert found is not None
    assert (found.drifted, found.status) == {
        "declared": (True, "False"),
        "measured": (True, "False"),
        "created": (False, "Unknown"),
        "violated": (True, "False"),
    }[how]


@pytest.mark.parametrize("routed", [False, True])
def test_what_it_depends_on_may_change_between_reading_and_writing(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, routed: bool
) -> None:
    declare(clock, controller(), made("SecurityPolicy", "rules", RULES))
    healthy(clock, "harbour")
    seen: list[Judgement | None] = []

    def meddle(_: str) -> None:
        seen.append(judgement("harbour"))
        if len(seen) == 1:
            violate(clock)
            if routed:
                routing.route(clock.now)

    while_judging(monkeypatch, meddle)
    rest(clock)

    # The first look read none of it; another one follows, whoever routed the change.
    assert [each and each.drifted for each in seen] == [None, False]
    assert judged("harbour").dimensions["security"]["score"] == 1


@pytest.mark.postgres
def test_a_writer_and_the_router_do_not_wait_for_each_other_in_a_circle(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-24 The router holds the mark, the writer the resource, and each wants the other's."""
    declare(clock, controller())
    healthy(clock, "harbour")
    rest(clock)
    measure(clock, "harbour", 40)
    every, marks = compiled_controllers.every, threading.Event()
    writing = threading.Event()

    def wait_for_the_writer() -> Any:
        marks.set()
        assert writing.wait(PATIENCE)
        wait_until_somebody_waits_for_a_lock()
        return every()

    monkeypatch.setattr(compiled_controllers, "every", wait_for_the_writer)
    router = Background(partial(routing.route, clock.now))
    assert marks.wait(PATIENCE)
    writer = Background(partial(change_once, clock, writing))

    assert (router.wait(), writer.wait()) == (1, 1)
    monkeypatch.undo()
    rest(clock)
    found = judgement("harbour")
    assert found is not None
    assert found.evidence[0]["observed"] == 30


def change_once(clock: Clock, writing: threading.Event) -> int:
    """Change a resource without a second try; return how many tries it took."""
    (draft,) = store.drafts_of(Resource.objects.filter(name="harbour"))
    draft.resource.status = {"kpis": [{"name": "ships", "value": 30}]}
    draft.observed = True
    writing.set()
    store.write([draft], actor=SYSTEM, now=clock.now)
    return 1


def wait_until_somebody_waits_for_a_lock() -> None:
    """Return as soon as a statement of another connection waits for this one."""
    waiting = "SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))"
    with connection.cursor() as cursor:
        for _ in range(500):
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise AssertionError("Nobody waits.")


@pytest.mark.postgres
def test_routers_and_cycles_that_overlap_never_fail(clock: Clock) -> None:
    """F-24 Whole sets are declared in any order while several workers route and judge them."""
    names = [f"d-{number:02}" for number in range(30)]
    declare(clock, controller("first"), controller("second"))
    declare(clock, *(domain(name) for name in names))
    done = threading.Event()

    def write(seed: int) -> None:
        draw = random.Random(seed)  # noqa: S311
        for step in range(4):
            chosen = draw.sample(names, 20)
            budgets = [made("Budget", f"b-{name}", {"domain": name}) for name in chosen[:5]]
            documents = [domain(name, wanted=seed * 100 + step) for name in chosen] + budgets
            draw.shuffle(documents)
            declare(clock, *documents)

    def toil(holder: str) -> int:
        rounds = 0
        while not done.is_set():
            work(clock, holder)
            rounds += 1
        return rounds

    toiling = [Background(partial(toil, f"w{number}")) for number in range(5)]
    try:
        together([partial(write, seed) for seed in range(4)])
    finally:
        done.set()

    assert all(each.wait() for each in toiling)
    assert not Cycle.objects.filter(outcome__in=["failed", "lost"]).exists()
    rest(clock)
    for row in Resource.objects.filter(kind="Domain"):
        assert set(row.judged.values_list("generation", flat=True)) == {row.generation}


class Meddling(Effects):
    """A person edits a resource while a controller acts on it."""

    clock: Clock
    edits: Iterator[int]

    def perform(self, action: Action, snapshot: Snapshot) -> Result:
        for wanted in self.edits:
            declare(self.clock, domain("harbour", wanted=wanted))
        return super().perform(action, snapshot)


def test_an_edit_during_the_act_stands_and_is_judged(clock: Clock) -> None:
    """F-13 F-17"""
    declare(clock, controller(actions=ALERTING))
    healthy(clock, "harbour")
    rest(clock)
    measure(clock, "harbour", 90)
    Meddling.clock, Meddling.edits = clock, iter([80])

    (first,) = work(clock, effects=Meddling)

    assert first.counts["drifted"] == 1
    row, found, kept = live("Domain", "harbour"), judgement("harbour"), own("harbour")
    assert row.spec["kpis"][0]["target"]["value"] == 80
    assert found is not None
    assert kept is not None
    assert (found.generation, found.status, kept.status) == (1, "True", "True")
    assert (alerts(), told("controller.drift-detected")) == ([], [])
    assert item("harbour") is not None

    assert len(work(clock)) == 1
    found = judgement("harbour")
    assert found is not None
    assert (found.generation, found.drifted) == (2, False)
    assert work(clock) == []


def declare_and_measure(clock: Clock) -> None:
    declare(clock, domain("harbour", wanted=10))
    measure(clock, "harbour", 9)


EDITS: dict[str, Callable[[Clock], None]] = {
    "spec": lambda clock: declare(clock, domain("harbour", wanted=10)),
    "labels": lambda clock: declare(clock, domain("harbour", labels={"by": "alice"})),
    "status": lambda clock: measure(clock, "harbour", 7),
    "both": declare_and_measure,
}


@pytest.mark.parametrize("edit", quick_first(EDITS))
@pytest.mark.parametrize("routed", [False, True])
def test_an_edit_between_reading_and_writing_is_never_overwritten(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, edit: str, routed: bool
) -> None:
    """F-13 F-17 The first look would write a condition, so it has something to overwrite with."""
    declare(clock, controller())
    drifted(clock, "harbour")
    seen: list[tuple[Any, Any]] = []
    edited: list[Resource] = []

    def meddle(_: str) -> None:
        seen.append((judgement("harbour"), own("harbour")))
        if edited:
            return
        EDITS[edit](clock)
        edited.append(live("Domain", "harbour"))
        if routed:
            routing.route(clock.now)

    while_judging(monkeypatch, meddle)
    rest(clock)

    (row,), after, found = edited, live("Domain", "harbour"), judgement("harbour")
    assert seen[:2] == [(None, None)] * 2
    assert (after.spec, after.metadata, after.status) == (row.spec, row.metadata, row.status)
    assert found is not None
    assert (found.version, found.generation) == (after.resource_version, row.generation)
    assert found.drifted == (edit != "spec")


@pytest.mark.postgres
def test_an_edit_after_the_versions_were_compared_is_seen_too(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-13 SQLite lets nobody write so late."""
    declare(clock, controller())
    drifted(clock, "harbour")
    compare, once = moved_on, iter([10])

    def meddle(*given: Any) -> Moved:
        moved = compare(*given)
        for wanted in once:
            Background(partial(declare, clock, domain("harbour", wanted=wanted))).wait()
        return moved

    monkeypatch.setattr(chunk_writer, "moved_on", meddle)
    rest(clock)

    found = judgement("harbour")
    assert found is not None
    assert (found.generation, found.drifted) == (2, False)
    said = [each.payload for each in told("resource.condition-changed")]
    assert [each["status"] for each in said if each["type"] == KEPT] == ["True"]


def test_a_resource_deleted_while_it_is_judged_leaves_nothing(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-72"""
    declare(clock, controller())
    drifted(clock, "harbour", "depot")
    once = iter(["harbour"])

    def meddle(_: str) -> None:
        for name in once:
            deletion.delete("Domain", name, actor=ALICE, now=clock.now)

    while_judging(monkeypatch, meddle)
    rest(clock)

    assert Judgement.objects.get().resource == live("Domain", "depot")
    assert not WorkItem.objects.exclude(resource__kind="Controller").exists()
    assert {each.outcome for each in recorded()} <= {"drift_reported", "converged"}


def test_a_thousand_changes_in_a_second_are_a_few_cycles(clock: Clock) -> None:
    """F-16 Every one of them wakes the loop."""
    declare(clock, controller())
    healthy(clock, "harbour")
    rest(clock)
    known, row = len(recorded()), live("Domain", "harbour")
    loop = worker_loop.Loop(lambda: clock.now)
    loop.start()
    began = time.monotonic()
    try:
        for number in range(1_000):
            row.resource_version += number
            indexes.mark([row])
            announcements.wake()
        lasted = time.monotonic() - began
    finally:
        assert loop.stop()
    rest(clock)

    assert len(recorded()) - known <= 2 + lasted / worker_loop.PAUSE_SECONDS
    assert not DirtyMark.objects.exists()


class Ticking(worker_loop.Loop):
    """A loop that only counts its rounds."""

    rounds = 0

    def tick(self, holder: str) -> None:
        self.rounds += 1


def test_the_loop_is_not_woken_twice_within_a_second() -> None:
    """F-16"""
    loop = Ticking()
    loop.start()
    until = time.monotonic() + worker_loop.PAUSE_SECONDS / 2
    while time.monotonic() < until:
        announcements.wake()

    assert loop.stop()
    assert loop.rounds == 1


@pytest.mark.parametrize(("took", "rests"), [(0.0, 1.0), (0.9, 1.0), (3.0, 3.0), (600.0, 5.0)])
def test_the_loop_rests_as_long_as_a_round_took(took: float, rests: float) -> None:
    """F-16 What changes meanwhile is looked at together; nobody waits longer than that for it."""
    assert worker_loop.rest_after(took) == rests


def test_what_people_approved_is_carried_out_while_the_loop_rests(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(execution, "run_due", lambda holder, _: asked.append(holder))
    monkeypatch.setattr(worker_loop, "PAUSE_SECONDS", 0.02)
    loop = worker_loop.Loop(lambda: clock.now)

    loop.rest(0.02)
    assert asked == []

    loop.rest(0.3)
    assert set(asked) == {loop.holder}
    assert len(asked) > 1


def test_nothing_is_carried_out_before_it_is_known_which_database_this_is(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first look that failed after a long wait is followed by a rest like any other."""
    asked: list[str] = []
    looks = iter([OperationalError("away"), OperationalError("away"), None])

    def look(_: Any) -> None:
        if failure := next(looks, None):
            raise failure

    monkeypatch.setattr(restore_watch, "look", look)
    monkeypatch.setattr(execution, "run_due", lambda holder, _: asked.append(holder))
    loop = worker_loop.Loop(lambda: clock.now)

    loop.tick(loop.holder)
    loop.attempt(loop.carry_out)
    assert asked == []

    loop.attempt(loop.carry_out)
    assert asked == [loop.holder]


def test_what_people_approved_does_not_wait_for_a_whole_round(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{KEEPER}-{number}" for number in range(4)]
    declare(clock, *(controller(name) for name in names))
    asked: list[int] = []
    monkeypatch.setattr(execution, "run_due", lambda *_: asked.append(Cycle.objects.count()))

    worker_loop.work("test", Means(partial(clock.advance, seconds=0.5)))

    assert Cycle.objects.count() == len(names)
    assert asked[0] < len(names) == asked[-1]


def stop_after(looks: int, patch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Return a word that says to stop once so many resources were looked at."""
    seen: list[str] = []
    while_judging(patch, seen.append)
    return lambda: len(seen) >= looks


def test_who_is_told_to_stop_reports_and_leaves_the_rest_to_the_next(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-12 F-22 F-23"""
    monkeypatch.setattr(cycle_run, "CHUNK", 1)
    declare(clock, controller(), controller("second"))
    names = [f"d{number}" for number in range(6)]
    healthy(clock, *names)

    (first,) = work(clock, "leaving", stopping=stop_after(2, monkeypatch))

    assert (first.outcome, first.finished_at) == ("interrupted", clock.now)
    assert first.counts["judged"] == runtime().watched == 2
    assert (runtime().holder, runtime().leased_until) == ("", None)
    assert live("Controller", KEEPER).status["healthyResources"] == 2
    assert (runtime().failures, runtime().breaker) == (0, "closed")
    assert recorded("second") == []

    monkeypatch.undo()
    assert len(work(clock, "next")) == 2
    assert runtime().healthy == runtime("second").healthy == 6
    assert work(clock, "next") == []


def test_work_that_waits_when_all_stop_is_done_by_the_next(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-23"""
    monkeypatch.setattr(cycle_run, "CHUNK", 1)
    declare(clock, controller())
    names = [f"d{number}" for number in range(6)]
    healthy(clock, *names)
    rest(clock)
    for name in names:
        measure(clock, name, 50)

    work(clock, "leaving", stopping=stop_after(3, monkeypatch))
    assert WorkItem.objects.exclude(resource__kind="Controller").count() == 3
    monkeypatch.undo()
    work(clock, "next")

    assert (runtime().drifted, runtime().healthy) == (6, 0)
    assert not WorkItem.objects.exclude(resource__kind="Controller").exists()


def test_the_loop_ends_its_cycle_when_it_is_stopped(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-12 F-22"""
    declare(clock, controller())
    healthy(clock, "harbour", "depot")
    looking, go_on = threading.Event(), threading.Event()

    def look(_: str) -> None:
        looking.set()
        go_on.wait(PATIENCE)

    while_judging(monkeypatch, look)
    loop = worker_loop.Loop(lambda: clock.now)
    loop.start()
    assert looking.wait(PATIENCE)
    stopping = Background(partial(loop.stop, PATIENCE))
    assert loop.stopping.wait(PATIENCE)
    go_on.set()

    assert stopping.wait() is True
    assert [each.outcome for each in recorded()] == ["interrupted"]
    assert runtime().leased_until is None
    rest(clock)
    assert runtime().healthy == 2


class Killed(BaseException):
    """The end of a process, as far as one process can tell it of itself."""


def test_people_are_told_of_everything_though_the_writing_was_cut(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-14 What is said about a resource is written with its judgement or not at all."""
    monkeypatch.setattr(chunk_writer, "REWRITTEN", 1)
    logged = [{"type": "log", "level": "warning"}]
    declare(clock, controller(actions={"onDrift": ALERTING["onDrift"] + logged}))
    names = ["depot", "harbour", "lagoon"]
    healthy(clock, *names)
    rest(clock)
    for name in names:
        measure(clock, name, 50)
    attempt, parts = chunk_writer.attempt, iter([False, True, False, False])

    def die_at_the_second(*given: Any) -> None:
        if next(parts):
            raise Killed
        attempt(*given)

    monkeypatch.setattr(chunk_writer, "attempt", die_at_the_second)
    with pytest.raises(Killed):
        work(clock, "doomed")
    assert runtime().drifted == 1
    monkeypatch.setattr(chunk_writer, "attempt", attempt)
    clock.advance(seconds=61)
    rest(clock)

    assert sorted(each.resource.name for each in alerts()) == names
    assert sorted(each.subject for each in told("controller.logged")) == [
        f"domain/{name}" for name in names
    ]
    assert len(told("controller.drift-detected")) == 3


def test_people_hear_of_the_first_look_though_its_worker_was_lost(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-10 Everything was written but the report."""
    declare(clock, controller(actions=ALERTING))
    drifted(clock, "harbour", "depot")

    def die(*_: Any) -> None:
        raise Killed

    monkeypatch.setattr(cycle_end, "finish", die)
    with pytest.raises(Killed):
        work(clock, "doomed")
    monkeypatch.undo()
    clock.advance(seconds=61)
    rest(clock)

    (sum_,) = alerts()
    assert (sum_.reason, sum_.channel) == ("FirstLook", "ops")
    assert sum_.message == "First look of keeper: 2 of 2 drifted."


def test_a_first_look_that_was_cut_short_goes_on_as_one(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-10 A-12 Or people would get an alert for each of thousands that were not seen yet."""
    monkeypatch.setattr(cycle_run, "CHUNK", 1)
    declare(clock, controller(actions=ALERTING))
    drifted(clock, *(f"d{number}" for number in range(6)))

    work(clock, "leaving", stopping=stop_after(2, monkeypatch))
    rest(clock)

    (sum_,) = alerts()
    assert sum_.message == "First look of keeper: 6 of 6 drifted."
