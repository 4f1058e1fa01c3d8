"""A worker killed at any point of a cycle: the next one loses nothing and does nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings

from controllers.models import Cycle, DriftSample, Judgement, Runtime, WorkItem
from controllers.workqueue import compiled_controllers
from resources.store import evidence
from resources.tables.models import Condition, DirtyMark, LedgerEvent, Resource
from resources.usecases import deletion
from tests.api.serving import ROOT, database_url
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
    measure,
    runtime,
    told,
    work,
)
from tests.resources.conftest import real_database
from tests.resources.making import ALICE, live
from tests.tiers import quick_first

__all__ = ["real_database"]

pytestmark = pytest.mark.usefixtures("real_database")

PATIENCE = 60
ACTIONS = {"onDrift": [{"type": "alert", "channels": ["ops"]}, {"type": "log", "level": "error"}]}
NORTH, SOUTH = {"sea": "north"}, {"sea": "south"}
# Where a worker dies, and whether the cycle it ran is lost.
PLACES = [
    ("before", "controllers.loop.routing:forget", 0),
    ("after", "controllers.loop.routing:route", 0),
    ("after", "controllers.workqueue.leases:take", 0),
    ("before", "controllers.loop.cycle_begin:entries", 0),
    ("after", "controllers.loop.cycle_begin:begin", 1),
    ("after", "controllers.workqueue.target_store:Reader.snapshots", 1),
    ("before", "controllers.engine.diff:measuring", 1),
    ("after", "controllers.engine.plan:draft", 1),
    ("after", "controllers.workqueue.cycle_effects:Effects.perform", 1),
    ("before", "controllers.loop.chunk_writer:save", 1),
    ("after", "controllers.loop.chunk_writer:write_judgements", 1),
    ("after", "controllers.loop.chunk_writer:settle", 1),
    ("after", "controllers.loop.chunk_writer:attempt", 1),
    ("after", "controllers.loop.chunk_writer:save", 1),
    ("before", "controllers.loop.cycle_end:finish", 1),
    ("after", "controllers.loop.cycle_end:close", 1),
    ("after", "controllers.loop.cycle_end:reschedule", 1),
    ("after", "controllers.loop.cycle_end:finish", 0),
]


@pytest.fixture
def organisation(clock: Clock) -> None:
    """Domains under a controller, of which each has changed in another way since they were judged.

    The first of them drifted, the next recovered, one left, one was deleted, one came anew.
    """
    selector = {"matchLabels": NORTH}
    declare(clock, controller(targetSelector=selector, actions=ACTIONS))
    names = ["drifts", "recovers", "leaves", "goes", "stays"]
    declare(clock, *(domain(name, labels=NORTH) for name in names))
    for name in names:
        measure(clock, name, 50 if name == "recovers" else 100)
    work(clock)
    assert (runtime().healthy, runtime().drifted) == (4, 1)
    clock.advance(seconds=10)
    measure(clock, "drifts", 40)
    measure(clock, "recovers", 120)
    declare(clock, domain("leaves", labels=SOUTH), domain("comes", labels=NORTH))
    deletion.delete("Domain", "goes", actor=ALICE, now=clock.now)


def kill(clock: Clock, folder: Path, moment: str, place: str) -> None:
    """Let a worker in a process of its own do what is due, until it is killed."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "ioa_site.settings",
        "IOA_DATA_DIR": str(folder),
        "IOA_SECRET_KEY": settings.SECRET_KEY,
    }
    command = [sys.executable, "-m", "tests.journeys.doomed", moment, place, clock.now.isoformat()]
    died = subprocess.run(
        command, cwd=ROOT, env=environment, timeout=PATIENCE, capture_output=True, text=True
    )
    assert died.returncode == -signal.SIGKILL, died.stderr


def go_on(clock: Clock) -> None:
    """Be the next worker, once the lease of the one before is over."""
    compiled_controllers.compiled.cache_clear()
    clock.advance(seconds=61)
    for _ in range(5):
        if not work(clock, "next"):
            return
    raise AssertionError("There is always something left to do.")


def assert_everything_is_judged() -> None:
    """Every domain is judged as it is now; those that left or went are not."""
    words = {}
    for found in Judgement.objects.select_related("resource"):
        assert found.version == found.resource.resource_version
        words[found.resource.name] = found.status
    assert words == {"drifts": "False", "recovers": "True", "stays": "True", "comes": "Unknown"}
    counted = (runtime().healthy, runtime().drifted, runtime().unknown)
    assert counted == (2, 1, 1)
    assert not WorkItem.objects.exclude(resource=live("Controller", KEEPER)).exists()
    assert not DirtyMark.objects.exists()


def assert_nothing_is_said_twice() -> None:
    """Each domain carries one condition of the controller, and people were told once."""
    stated = Condition.objects.filter(
        managed_by="controller/keeper", resource__kind="Domain", resource__deleted_at=None
    )
    names = sorted(each.resource.name for each in stated)
    assert names == ["comes", "drifts", "recovers", "stays"]
    raised = [(each.resource.name, each.reason) for each in alerts()]
    assert raised == [(KEEPER, "FirstLook"), ("drifts", "Drift")]
    for event in ("controller.drift-detected", "controller.logged"):
        assert len(told(event, subject="domain/drifts")) == 1
    assert DriftSample.objects.filter(resource__name="drifts").count() == 2


def assert_every_cycle_has_ended(lost: int) -> None:
    """Each cycle began once and ended once, in the ledger too; what was lost is called so."""
    assert not Cycle.objects.filter(finished_at=None).exists()
    outcomes = [each.outcome for each in cycles()]
    assert outcomes.count("lost") == lost
    assert [each.number for each in cycles()] == list(range(1, len(outcomes) + 1))
    ids = Counter(each.correlation_id for each in cycles())
    for event in ("started", "completed"):
        story = f"controller.reconciliation-{event}"
        assert Counter(each.correlation_id for each in told(story)) == ids
    assert runtime().leased_until is None
    assert (runtime().failures, runtime().breaker) == (0, "closed")
    assert evidence.verify().findings == []


@pytest.mark.parametrize(("moment", "place", "lost"), quick_first(PLACES, 2))
def test_a_worker_killed_anywhere_loses_nothing(
    clock: Clock, organisation: None, tmp_path: Path, moment: str, place: str, lost: int
) -> None:
    """A-27 F-23 O-30 A-17 O-06"""
    kill(clock, tmp_path / "data", moment, place)

    go_on(clock)

    assert_everything_is_judged()
    assert_nothing_is_said_twice()
    assert_every_cycle_has_ended(lost)


def test_a_worker_killed_while_it_starts_a_controller_loses_nothing(
    clock: Clock, tmp_path: Path
) -> None:
    """A-27 A-05"""
    declare(clock, controller())
    healthy(clock, "harbour")
    drifted(clock, "depot")

    kill(clock, tmp_path / "data", "after", "controllers.loop.recovery:close_superseded")
    assert not Runtime.objects.exists()
    kill(clock, tmp_path / "data", "after", "controllers.loop.registration:sync")
    kill(clock, tmp_path / "data", "after", "controllers.loop.cycle_end:close")
    go_on(clock)

    assert (runtime().healthy, runtime().drifted) == (1, 1)
    assert [each.outcome for each in cycles()] == ["lost", "drift_reported"]
    assert Resource.objects.filter(kind="Domain", judged__isnull=False).count() == 2
    assert evidence.verify().findings == []
    assert LedgerEvent.objects.filter(event="controller.drift-detected").count() == 1
