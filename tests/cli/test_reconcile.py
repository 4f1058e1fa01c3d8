"""`ioa reconcile` runs cycles without a server, and tells scripts whether there is drift."""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest
from django.utils import timezone

from controllers.loop import routing
from controllers.models import Cycle, Runtime, WorkItem
from controllers.worker import housekeeping
from controllers.workqueue import leases
from tests.cli.conftest import Run
from tests.conftest import Clock
from tests.controllers.making import (
    controller,
    cycles,
    declare,
    drifted,
    healthy,
    runtime,
    told,
    while_judging,
    whole,
    work,
)
from tests.resources.conftest import real_database
from tests.resources.racing import Background

__all__ = ["real_database"]

pytestmark = pytest.mark.django_db

REMEDY = {
    "onDrift": [
        {"type": "alert", "severity": "warning", "channels": ["ops"]},
        {"type": "reconcile", "operation": "scale-agents"},
    ]
}
CALM = {"preReconcile": [{"name": "calm", "action": "check domain.status.incidents < 3"}]}


@pytest.fixture
def today() -> Clock:
    """Return a clock that begins when the test does, as commands read the real one."""
    clock = Clock()
    clock.now = timezone.now()
    return clock


@pytest.fixture
def keeper(today: Clock, db: None) -> None:
    """A controller of one domain that is well and one that is not."""
    declare(today, controller(actions=REMEDY))
    healthy(today, "farm")
    drifted(today, "harbour")


def stop() -> None:
    """Open every breaker."""
    Runtime.objects.update(breaker="open", failures=5, breaker_reason="Nothing answers.")


def test_drift_is_told_to_a_build_by_the_exit_code(ioa: Run, today: Clock) -> None:
    """I-80"""
    declare(today, controller())
    healthy(today, "farm")

    well = ioa("reconcile", "keeper", "--exit-code")
    drifted(today, "harbour")
    unwell = ioa("reconcile", "keeper", "--exit-code")
    looked = ioa("reconcile", "keeper", "--exit-code", "--dry-run")

    assert (well.code, unwell.code, looked.code) == (0, 2, 2)
    assert "Nothing is drifted or unknown" in well.out
    assert len(cycles()) == 2


def test_without_the_option_drift_is_no_failure(ioa: Run, keeper: None) -> None:
    assert ioa("reconcile", "keeper", "--wait").code == 0
    assert ioa("reconcile", "keeper", "--dry-run").code == 0


def test_waiting_runs_the_cycle_and_prints_it(ioa: Run, keeper: None) -> None:
    ran = ioa("reconcile", "controller/keeper", "--wait", "--reason", "I wonder.")
    [cycle] = cycles()

    assert ran.code == 0
    assert ran.out.startswith("controller/keeper, cycle 1: acted (")
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[2][:4] == ["watch", "2", "resources", "read"]
    assert lines[3][:7] == ["diff", "1", "drifted,", "1", "healthy,", "0", "unknown"]
    assert all(line[-1] == "ms" for line in lines[2:7])
    assert "1 resource not as declared" in ran.out
    assert any(line[:2] == ["1.00", "domain/harbour"] for line in lines)
    assert any(line[:3] == ["success", "alert", "domain/harbour"] for line in lines)
    # The domain names no agents that could be made more.
    assert "planned (refuse)  scale-agents  domain/harbour" in ran.out
    assert cycle.message == "I wonder."
    assert cycle.requested_by.startswith("person/")


def test_a_request_is_left_to_the_loop(ioa: Run, keeper: None, today: Clock) -> None:
    housekeeping.run_due(today.now)

    ran = ioa("reconcile", "keeper", "--reason", "I wonder.")

    assert ran.code == 0
    assert ran.out == "Asked controller/keeper for a cycle: the loop will run it.\n"
    assert ran.err == ""
    assert cycles() == []
    assert (whole().message, whole().reasons & WorkItem.Reason.MANUAL) == ("I wonder.", 4)


def test_a_request_that_nobody_will_serve_says_so(ioa: Run, keeper: None) -> None:
    ran = ioa("reconcile", "keeper")

    assert ran.code == 0
    assert "No loop is running" in ran.err


def test_a_dry_run_prints_the_plan_and_runs_nothing(ioa: Run, keeper: None) -> None:
    """O-27"""
    ran = ioa("reconcile", "keeper", "--dry-run")

    assert "dry run: nothing was changed" in ran.out
    assert "planned (run)" in ran.out
    assert "domain/harbour" in ran.out
    assert not Cycle.objects.exists()
    assert not Runtime.objects.exists()


def test_many_are_cut(ioa: Run, today: Clock) -> None:
    declare(today, controller(actions=REMEDY))
    drifted(today, *(f"d{number:02}" for number in range(45)))

    for option in ("--dry-run", "--wait"):
        ran = ioa("reconcile", "keeper", option)

        assert "45 resources not as declared" in ran.out
        assert "… and 5 more" in ran.out
        assert "… and 50 more" in ran.out


def test_all_controllers_are_run_but_those_of_others(ioa: Run, today: Clock) -> None:
    declare(today, controller("one"), controller("two"), controller("far", runner="external"))
    drifted(today, "harbour")

    ran = ioa("reconcile", "--all", "--exit-code")

    assert ran.code == 2
    assert "controller/one, cycle 1" in ran.out
    assert "controller/two, cycle 1" in ran.out
    assert "far" not in ran.out + ran.err


def test_one_that_is_refused_does_not_keep_the_others_back(ioa: Run, today: Clock) -> None:
    declare(today, controller("one"), controller("two"))
    drifted(today, "harbour")
    work(today)
    Runtime.objects.filter(controller__name="one").update(breaker="open")

    ran = ioa("reconcile", "--all", "--exit-code")

    assert ran.code == 1
    assert "Stopped until a person resets it" in ran.err
    assert "controller/two, cycle 2" in ran.out


def test_no_controllers_at_all(ioa: Run) -> None:
    ran = ioa("reconcile", "--all", "--wait")

    assert (ran.code, ran.out) == (0, "There are no controllers.\n")


def test_an_error_ends_with_one_whatever_is_drifted(
    ioa: Run, keeper: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        if name == "farm":
            raise ZeroDivisionError("No ships.")

    while_judging(monkeypatch, fail)

    ran = ioa("reconcile", "keeper", "--exit-code")

    assert ran.code == 1
    assert "cycle 1: partial" in ran.out
    assert "error: domain/farm: ZeroDivisionError" in ran.err


def test_a_person_starts_a_stopped_controller_again(ioa: Run, keeper: None, today: Clock) -> None:
    work(today)
    stop()

    refused = ioa("reconcile", "keeper", "--wait")
    blocked = ioa("reconcile", "keeper", "--dry-run")
    silent = ioa("reconcile", "keeper", "--reset-breaker", " ")
    started = ioa("reconcile", "keeper", "--wait", "--reset-breaker", "It answers again.")
    again = ioa("reconcile", "keeper", "--reset-breaker", "Why not.")

    assert [refused.code, blocked.code, silent.code, again.code] == [1, 1, 1, 1]
    assert "Nothing answers." in refused.err
    assert "Nothing answers." in blocked.err
    assert "Say why" in silent.err
    assert "is not stopped" in again.err
    assert started.code == 0
    assert runtime().breaker == "closed"
    assert [each.payload["reason"] for each in told("controller.breaker-reset")] == [
        "It answers again."
    ]


def test_ctrl_c_ends_a_cycle_with_its_report(
    ioa: Run, keeper: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    while_judging(monkeypatch, lambda name: signal.raise_signal(signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)

    ran = ioa("reconcile", "keeper", "--wait")

    [cycle] = cycles()
    assert ran.code == 130
    assert cycle.outcome == Cycle.Outcome.INTERRUPTED
    assert runtime().leased_until is None
    assert whole().reasons & WorkItem.Reason.MANUAL
    assert signal.getsignal(signal.SIGINT) is before


def test_a_lease_that_another_worker_lost_is_waited_for(
    ioa: Run, keeper: None, today: Clock
) -> None:
    work(today)
    nearly = timezone.now() - leases.TERM + timedelta(seconds=0.5)
    assert leases.take(runtime().pk, "gone", nearly) is not None

    ran = ioa("reconcile", "keeper", "--wait")

    assert ran.code == 0
    assert "controller/keeper, cycle 2" in ran.out


def test_a_cycle_that_another_worker_runs_is_printed(
    real_database: None, keeper: None, today: Clock, ioa: Run
) -> None:
    """The command asks, finds the lease taken, and prints what the other worker did."""
    work(today)
    taken = leases.take(runtime().pk, "other", timezone.now())
    assert taken is not None

    def finish() -> None:
        while not whole().reasons & WorkItem.Reason.MANUAL:
            pass
        leases.release(taken)
        today.now = timezone.now()
        work(today, "other")

    other = Background(finish)
    ran = ioa("reconcile", "keeper", "--wait")
    other.wait()

    assert ran.code == 0
    assert "controller/keeper, cycle 2" in ran.out


def test_a_controller_that_is_stopped_meanwhile_is_not_waited_for(
    ioa: Run, keeper: None, today: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(today)
    monkeypatch.setattr(routing, "route", lambda now: stop())

    ran = ioa("reconcile", "keeper", "--wait")

    assert ran.code == 1
    assert "Nothing answers." in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Give the name of a controller, or --all."),
        (("keeper", "--all"), "Give the name of a controller, or --all."),
        (("--all", "--reset-breaker", "x"), "--reset-breaker is for one controller"),
        (("keeper", "--dry-run", "--reset-breaker", "x"), "--reset-breaker is for one"),
        (("keeper", "--dry-run", "--wait"), "not allowed with"),
        (("keeper", "--nonsense"), "unrecognized arguments"),
        (("kepper",), "Did you mean keeper?"),
        (("unicorn",), "`ioa get controllers` lists them."),
    ],
)
def test_what_cannot_be_done_ends_with_one(
    ioa: Run, keeper: None, arguments: tuple[str, ...], said: str
) -> None:
    ran = ioa("reconcile", *arguments)

    assert ran.code == 1
    assert said in ran.err
    assert ran.out == ""


@pytest.mark.sqlite
def test_a_database_that_does_not_answer_is_no_drift(ioa_process: Run) -> None:
    """I-80"""
    address = "postgres://nobody@127.0.0.1:1/none"

    ran = ioa_process("reconcile", "keeper", "--exit-code", DATABASE_URL=address)

    assert ran.code == 1
    assert "The database cannot be used" in ran.err


def test_progress_is_shown_when_asked_for(ioa: Run, keeper: None) -> None:
    ran = ioa("reconcile", "keeper", "--wait", "--progress")

    assert "2 of 2" in ran.err


def test_a_hook_that_does_not_hold_keeps_actions_back(ioa: Run, today: Clock) -> None:
    declare(today, controller(actions=REMEDY, hooks=CALM))
    drifted(today, "harbour")

    ran = ioa("reconcile", "keeper", "--exit-code")

    assert ran.code == 2
    assert "hook skipped" in ran.out
    assert "calm does not hold" in ran.out
