"""WATCH: what a cycle reads, when, how much of it, and what becomes of it when reading fails."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from controllers.common import rows
from controllers.engine import configuration
from controllers.engine.errors import TimedOut
from controllers.engine.terms import Action, Condition, Result, Snapshot
from controllers.loop import chunk_writer
from controllers.loop.chunk_writer import Chunk, Run
from controllers.models import Cycle, DriftSample
from controllers.worker import worker_loop
from controllers.workqueue import compiled_controllers
from controllers.workqueue.chunk_snapshot import one_view
from controllers.workqueue.cycle_effects import Effects
from controllers.workqueue.target_store import Reader
from resources.documents.actor import SYSTEM
from resources.usecases import deletion, statuses
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    WANTED,
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
    told,
    work,
)
from tests.resources.making import ALICE, live, made
from tests.resources.racing import Background

ALERTING = {"onDrift": [{"type": "alert", "channels": ["ops"]}]}


def looked(name: str) -> Snapshot:
    """Read one domain as a cycle of the keeper would."""
    keeper = compiled_controllers.load(live("Controller", KEEPER).pk)
    reader = Reader(keeper, configuration.reads(keeper))
    with one_view():
        [(snapshot, _)] = reader.snapshots(reader.among([live("Domain", name).pk]))
    return snapshot


@pytest.mark.django_db
def test_what_was_seen_keeps_its_time(clock: Clock) -> None:
    """D-01"""
    declare(clock, controller())
    drifted(clock, "harbour")
    seen = {"name": "ships", "value": 1, "observedAt": "2026-11-16T09:59:00Z", "source": "robin"}
    report = statuses.Report("Domain", "harbour", {"kpis": [seen]})
    statuses.observe([report], actor=SYSTEM, now=clock.now)
    clock.advance(seconds=20)
    [cycle] = work(clock)

    found = judgement("harbour")
    assert found is not None
    assert (cycle.started_at, found.evaluated_at) == (clock.now, clock.now)
    [ships] = found.evidence
    assert (ships["at"], ships["by"]) == ("2026-11-16T09:59:00Z", "robin")


@pytest.mark.django_db
def test_conditions_are_read_as_they_were_reported(clock: Clock) -> None:
    """D-01"""
    odd = 'She said: "C:\\new" \t [1, {"a": 2}]\nü 😀'
    stated = [
        {"type": f"B {odd}", "status": "False", "reason": odd, "message": odd, "since": odd},
        {"type": "A", "status": "True"},
    ]
    declare(clock, controller(), domain("harbour"))
    report = statuses.Report("Domain", "harbour", {"conditions": stated})
    [told] = statuses.observe([report], actor=SYSTEM, now=clock.now)

    assert not told.failed, told
    assert looked("harbour").target.conditions == (
        Condition("A", "True"),
        Condition(f"B {odd}", "False", odd, odd, "", {"since": odd}),
    )


@pytest.mark.django_db
def test_only_the_kinds_a_judgement_rests_on_are_read(clock: Clock) -> None:
    """D-04"""
    others = [made("Budget", "purse"), made("SecurityPolicy", "rules"), made("Agent", "robin")]
    hook = {"name": "staffed", "action": "check agent.status.state == 'running'"}
    declare(clock, controller(), domain("harbour"), domain("inland"), *others)
    plain = looked("harbour").related
    declare(clock, controller(hooks={"preReconcile": [hook]}))

    assert set(plain) == {"Budget", "SecurityPolicy"}
    assert set(looked("harbour").related) == {"Budget", "SecurityPolicy", "Agent"}
    assert looked("inland").related == {}


@pytest.mark.usefixtures("real_database")
def test_a_snapshot_is_of_one_moment(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-08 Somebody renames the budget and the domain's reference to it while both are read."""
    declare(clock, controller(), made("Budget", "old-purse"), domain("harbour"))
    declare(clock, domain("harbour", budgetRef="old-purse"))
    looked("harbour")
    usual = rows.resources
    others: list[Background] = []

    def interrupted(*keys: Any) -> Any:
        found = usual(*keys)
        if not others:
            others.append(Background(move))
            others[0].wait()
        return found

    def move() -> None:
        declare(clock, made("Budget", "new-purse"), domain("harbour", budgetRef="new-purse"))
        deletion.delete("Budget", "old-purse", actor=ALICE, now=clock.now)

    monkeypatch.setattr(rows, "resources", interrupted)
    before, after = looked("harbour"), looked("harbour")

    for snapshot, purse in ((before, "old-purse"), (after, "new-purse")):
        assert snapshot.target.spec["budgetRef"] == purse
        assert [each.name for each in snapshot.of("Budget")] == [purse]


@pytest.mark.usefixtures("real_database")
def test_each_cycle_has_read_further_than_the_one_before(clock: Clock) -> None:
    """O-07 I-39"""
    declare(clock, controller())
    drifted(clock, "harbour")
    written = []
    for ships in range(3):
        measure(clock, "harbour", ships)
        written.append(live("Domain", "harbour").resource_version)
        work(clock)

    revisions = [each.revision for each in cycles()]
    assert revisions == sorted(set(revisions))
    assert all(read >= version for read, version in zip(revisions, written, strict=True))


@pytest.mark.django_db
def test_reading_that_takes_too_long_is_cut_off(clock: Clock) -> None:
    """D-06 I-73"""

    class Slow(Effects):
        def check(self) -> None:
            raise TimedOut("The cycle took longer than 1 seconds.")

    declare(clock, controller(timeout="1s"))
    drifted(clock, "harbour")
    [cut] = work(clock, effects=Slow)
    clock.advance(minutes=5)
    [again] = work(clock)

    assert (cut.outcome, cut.phase) == ("timed_out", "watch")
    assert (again.outcome, own("harbour").status) == ("drift_reported", "False")  # type: ignore[union-attr]


@pytest.mark.django_db
def test_a_judgement_is_compared_with_the_one_before(clock: Clock) -> None:
    """O-09 X-15 The first look is the baseline; after it only what moved is kept."""
    declare(clock, controller())
    healthy(clock, "harbour")
    for ships in (WANTED, WANTED // 2, WANTED // 2, WANTED):
        measure(clock, "harbour", ships)
        work(clock)
        clock.advance(minutes=5)

    scores = DriftSample.objects.order_by("at").values_list("score", flat=True)
    assert list(scores) == [0, 1, 0]


@pytest.mark.django_db
def test_acting_comes_before_writing(clock: Clock) -> None:
    """F-04 D-45 While it acts, the resource still says what it said before."""
    said: list[str] = []

    class Curious(Effects):
        def perform(self, action: Action, snapshot: Snapshot) -> Result:
            found = own("harbour")
            said.append(f"{found.status if found else ''} {action.why}")
            return super().perform(action, snapshot)

    declare(clock, controller(actions=ALERTING))
    healthy(clock, "harbour")
    work(clock)
    measure(clock, "harbour", 1)
    work(clock, effects=Curious)

    assert said == ["True 1 of 1 KPIs misses its target: ships is 1 (wanted >= 100)."]
    assert own("harbour").status == "False"  # type: ignore[union-attr]


@pytest.mark.django_db
def test_a_broken_database_costs_a_cycle_and_not_the_loop(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-08 O-43 O-05 D-49"""
    usual, broken = chunk_writer.save, [True]

    def save(run: Run, chunk: Chunk, *rest: object) -> object:
        if broken:
            raise OperationalError("attempt to write a readonly database")
        return usual(run, chunk, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(chunk_writer, "save", save)
    declare(clock, controller(actions=ALERTING))
    drifted(clock, "harbour")
    [failed] = work(clock)
    broken.clear()
    clock.advance(minutes=5)
    [after] = work(clock)

    assert (failed.outcome, failed.phase) == ("failed", "report")
    assert "readonly" in told("controller.error")[0].payload["error"]
    assert (after.outcome, len(cycles())) == ("acted", 2)
    assert [each.message for each in alerts()] == ["First look of keeper: 1 of 1 drifted."]


@pytest.mark.django_db
def test_every_worker_has_a_name_that_its_cycles_carry(clock: Clock) -> None:
    """O-02"""
    first, second = worker_loop.worker_name(), worker_loop.worker_name()
    declare(clock, controller())
    work(clock, first)
    clock.advance(minutes=5)
    work(clock, second)

    assert first != second
    assert [each.holder for each in Cycle.objects.order_by("number")] == [first, second]


@pytest.mark.django_db
def test_an_agent_whose_domain_is_gone_has_drifted(clock: Clock) -> None:
    """I-103"""
    robin = made("Agent", "robin", status={"state": "running"})
    declare(clock, controller(targetKind="Agent"), domain("harbour"), robin)
    work(clock)
    before = judgement("robin", kind="Agent")
    deletion.delete("Domain", "harbour", actor=ALICE, now=clock.now)
    work(clock)
    after = judgement("robin", kind="Agent")

    assert before is not None
    assert after is not None
    assert (before.drifted, after.drifted) == (False, True)
    assert "ReferencesResolved" in after.message
