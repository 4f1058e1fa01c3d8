"""A restored database is noticed before anything is done, and people decide when it goes on."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from controllers.decisions import database_lives, holds, local_checkpoint
from controllers.decisions.local_checkpoint import LocalCheckpoint
from controllers.execution import agent_tasks
from controllers.execution import steps as naming
from controllers.loop import restore_watch
from controllers.models import Delivery, Hold, Incarnation
from controllers.worker.worker_loop import Loop
from resources.documents.actor import SYSTEM, Actor
from resources.tables import ledger, versions
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.carrying import approve, restarting, run, state, wait
from tests.decisions.making import AGENT, agent, proposal
from tests.decisions.receiving import Receiver, endpoint, receiving
from tests.problems import refuses
from tests.resources.making import live

pytestmark = pytest.mark.django_db


def known() -> LocalCheckpoint:
    """Return what this machine remembers."""
    seen = local_checkpoint.read()
    assert seen is not None
    return seen


def forget(**changes: Any) -> LocalCheckpoint:
    """Let the machine remember something that the database does not have."""
    seen = known()._replace(**changes)
    local_checkpoint.write(seen)
    return seen


def lift(clock: Clock, person: User) -> None:
    (hold,) = Hold.objects.filter(ended_at=None)
    holds.lift(hold.pk, person=person, now=clock.now, reason="I have looked at it.")


@pytest.fixture
def started(clock: Clock, maya: User) -> LocalCheckpoint:
    """A database in use, on a machine that knows it."""
    agent(clock)
    assert restore_watch.look(clock.now) is None
    return known()


def test_a_first_start_freezes_nothing_and_is_remembered(clock: Clock, data_folder: Path) -> None:
    """I24"""
    assert restore_watch.look(clock.now) is None

    kept = json.loads((data_folder / "incarnation").read_text())
    assert kept["incarnation"] == str(Incarnation.objects.get().uid)
    assert not Hold.objects.exists()


def test_a_machine_without_a_file_accepts_the_database(
    clock: Clock, started: LocalCheckpoint
) -> None:
    local_checkpoint.file().unlink()

    assert restore_watch.look(clock.now) is None
    assert known() == started


def test_what_goes_on_is_remembered(clock: Clock, started: LocalCheckpoint) -> None:
    agent(clock, "other")

    assert restore_watch.look(clock.now) is None

    newest = LedgerEvent.objects.latest("pk")
    assert (known().entry, known().hash) == (newest.pk, newest.hash)
    assert newest.pk > started.entry


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"entry": 1_000_000, "hash": "0" * 64}, id="entries are missing"),
        pytest.param({"hash": "0" * 64}, id="another entry has the number"),
        pytest.param({"incarnation": uuid.uuid4()}, id="another database"),
    ],
)
def test_a_database_that_is_not_the_one_that_was_seen_is_frozen_once(
    clock: Clock, started: LocalCheckpoint, changes: dict[str, Any]
) -> None:
    """I24"""
    seen = forget(**changes)

    first, second = restore_watch.look(clock.now), restore_watch.look(clock.now)

    assert first == second == Hold.objects.get()
    assert first is not None
    assert (first.kind, first.scope, first.ends_at) == ("freeze", "organisation", None)
    assert (first.author, f"entry {seen.entry:,}" in first.reason) == ("system/ioa", True)
    told = LedgerEvent.objects.get(event="system.restored")
    assert (told.severity, told.payload["seen"][0]["entry"]) == ("critical", seen.entry)
    message = Delivery.objects.get()
    assert (message.severity, message.hold_id, message.body) == (
        "critical",
        first.pk,
        first.reason,
    )
    assert known() == seen


def test_a_database_from_before_incarnations_is_frozen_too(
    clock: Clock, started: LocalCheckpoint
) -> None:
    Incarnation.objects.all().delete()

    assert restore_watch.look(clock.now) is not None


def test_an_empty_database_is_a_first_start(clock: Clock, data_folder: Path) -> None:
    data_folder.mkdir()
    local_checkpoint.write(LocalCheckpoint(uuid.uuid4(), 7, "0" * 64, "2026-11-16T10:00:00Z"))

    assert restore_watch.look(clock.now) is None
    assert known().incarnation == Incarnation.objects.get().uid


def test_numbers_that_somebody_has_seen_are_not_given_out_again(
    clock: Clock, started: LocalCheckpoint
) -> None:
    seen = forget(entry=started.entry + 500, hash="0" * 64)

    restore_watch.look(clock.now)

    with transaction.atomic():
        assert min(versions.take(1)) > seen.entry
    assert LedgerEvent.objects.get(event="system.restored").pk > seen.entry


def test_lifting_accepts_the_database_on_every_machine(
    clock: Clock, started: LocalCheckpoint, maya: User
) -> None:
    lost = forget(entry=started.entry + 500, hash="0" * 64)
    restore_watch.look(clock.now)

    lift(clock, maya)

    assert restore_watch.look(clock.now) is None
    life = known().incarnation
    assert life not in (started.incarnation, lost.incarnation)
    assert LedgerEvent.objects.get(event="hold.lifted").payload["incarnation"] == str(life)
    assert Incarnation.objects.get(uid=life).accepted_by == "person/maya"
    local_checkpoint.write(lost)
    assert restore_watch.look(clock.now) is None
    assert known().incarnation == life


def test_a_life_that_the_backup_does_not_know_is_accepted_only_by_a_person(
    clock: Clock, started: LocalCheckpoint, maya: User
) -> None:
    """A backup from before the last restore, on two machines that both know a later life."""
    later = forget(incarnation=uuid.uuid4())

    assert restore_watch.look(clock.now) is not None
    lift(clock, maya)
    assert restore_watch.look(clock.now) is None
    local_checkpoint.write(later)
    assert restore_watch.look(clock.now) is None
    local_checkpoint.write(later._replace(incarnation=uuid.uuid4()))
    assert restore_watch.look(clock.now) is not None


def test_a_machine_without_a_disk_is_told_by_a_variable(
    clock: Clock, started: LocalCheckpoint, maya: User, settings: Any
) -> None:
    settings.INCARNATION = started.incarnation
    assert restore_watch.look(clock.now) is None
    settings.INCARNATION = uuid.uuid4()

    hold = restore_watch.look(clock.now)

    assert hold is not None
    assert f"names {settings.INCARNATION}" in hold.reason
    lift(clock, maya)
    assert restore_watch.look(clock.now) is None
    settings.INCARNATION = started.incarnation
    assert restore_watch.look(clock.now) is None


def test_the_variable_names_the_first_life(clock: Clock, settings: Any) -> None:
    settings.INCARNATION = uuid.uuid4()

    assert restore_watch.look(clock.now) is None
    assert Incarnation.objects.get().uid == settings.INCARNATION


def test_a_folder_that_cannot_be_written_stops_nothing(
    clock: Clock, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "file").touch()
    settings.DATA_DIR = tmp_path / "file" / "var"

    assert restore_watch.look(clock.now) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"incarnation": 7}', "null"])
def test_a_file_that_says_nothing_is_written_anew(
    clock: Clock, started: LocalCheckpoint, text: str
) -> None:
    local_checkpoint.file().write_text(text)

    assert restore_watch.look(clock.now) is None
    assert known() == started


def test_nobody_else_freezes_the_organisation_for_a_machine(clock: Clock) -> None:
    wanted = holds.HoldRequest("freeze", "organisation", "Why not?")

    with refuses("forbidden"):
        holds.place(wanted, actor=Actor("controller", "keeper"), now=clock.now)


@pytest.fixture
def robot(clock: Clock, settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with receiving() as receiver:
        endpoint(clock, receiver, "restart")
        yield receiver


def test_a_permit_is_remembered_outside_before_the_call(
    clock: Clock,
    started: LocalCheckpoint,
    robot: Receiver,
    maya: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """I24: whatever had an effect is known to the machine that brought it about."""
    remembered: list[int] = []
    hear = robot.hear

    def heard(*told: Any) -> int:
        remembered.append(known().entry)
        return hear(*told)

    monkeypatch.setattr(robot, "hear", heard)
    approve(clock, proposal(clock, agent(clock, "other"), actions=[restarting("other")]), maya)

    run(clock)

    permit = LedgerEvent.objects.get(event="proposal.dispatched")
    assert [entry >= permit.pk for entry in remembered] == [True]


def test_a_restore_that_is_noticed_after_the_permit_keeps_the_call_from_being_made(
    clock: Clock, started: LocalCheckpoint, robot: Receiver, maya: User
) -> None:
    """I24"""
    wish = approve(
        clock, proposal(clock, agent(clock, "other"), actions=[restarting("other")]), maya
    )
    forget(entry=1_000_000, hash="0" * 64)

    run(clock)
    wait(clock)
    run(clock)

    assert (robot.bodies, state(wish)) == ([], "approved")
    lift(clock, maya)
    wait(clock)
    run(clock)
    assert (len(robot.bodies), state(wish)) == (1, "verifying")


def test_a_restore_that_is_noticed_at_a_claim_grants_nothing(
    clock: Clock, started: LocalCheckpoint, maya: User
) -> None:
    """I24"""
    scribe = live("Agent", AGENT)
    approve(clock, proposal(clock, scribe, actions=[restarting()]), maya)
    run(clock)
    (offered,) = agent_tasks.claimable(scribe, clock.now)
    seen = forget(entry=1_000_000, hash="0" * 64)

    with refuses("stopped", match="entry 1,000,000"):
        agent_tasks.claim(offered.pk, scribe, clock.now)

    assert (known(), database_lives.asking() is None) == (seen, False)


def test_a_claim_is_remembered_outside_before_the_work(
    clock: Clock, started: LocalCheckpoint, maya: User
) -> None:
    """I24"""
    scribe = live("Agent", AGENT)
    approve(clock, proposal(clock, scribe, actions=[restarting()]), maya)
    run(clock)
    (offered,) = agent_tasks.claimable(scribe, clock.now)

    agent_tasks.claim(offered.pk, scribe, clock.now)

    assert known().entry >= LedgerEvent.objects.get(event="proposal.claimed").pk


def test_the_first_round_of_a_loop_looks_before_it_does_anything(
    clock: Clock, started: LocalCheckpoint, robot: Receiver, maya: User
) -> None:
    """I24"""
    wish = approve(
        clock, proposal(clock, agent(clock, "other"), actions=[restarting("other")]), maya
    )
    forget(entry=1_000_000, hash="0" * 64)
    loop = Loop(clock=lambda: clock.now)

    loop.look(clock.now)

    assert database_lives.asking() is not None
    run(clock)
    assert (robot.bodies, state(wish)) == ([], "approved")
    assert not LedgerEvent.objects.filter(event="proposal.dispatched").exists()


def test_another_plan_under_the_same_revision_has_another_key(clock: Clock) -> None:
    """I24: after a restore the revisions of a proposal are counted again."""
    wish = proposal(clock, agent(clock))
    first = naming.key_of(wish, 1, False)

    assert naming.key_of(wish, 1, False) == first
    wish.action_digest = "0" * 64
    assert naming.key_of(wish, 1, False) != first


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_many_machines_that_notice_one_freezes(clock: Clock, maya: User) -> None:
    agent(clock)
    restore_watch.look(clock.now)
    forget(entry=10_000, hash="0" * 64)
    ready = threading.Barrier(6)
    found: list[Hold | None] = []

    def notice() -> None:
        ready.wait()
        try:
            found.append(restore_watch.look(clock.now))
        finally:
            connection.close()

    threads = [threading.Thread(target=notice) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert {each.pk for each in found if each} == {Hold.objects.get().pk}
    assert len(found) == 6
    assert LedgerEvent.objects.filter(event="system.restored").count() == 1
    with transaction.atomic():
        (told,) = ledger.append([ledger.Entry("a", "b", "c")], actor=SYSTEM, now=clock.now)
    assert told.pk > 10_000
