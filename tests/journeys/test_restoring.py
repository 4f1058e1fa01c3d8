"""A backup takes the place of a database that went on: nothing happens until a person agrees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import database_lives
from controllers.decisions import local_checkpoint as witness
from controllers.loop import restore_watch
from controllers.models import Chore, Hold, Proposal
from resources.store import evidence
from tests.api.serving import ROOT, database_url
from tests.conftest import Clock
from tests.decisions.carrying import approve, restarting, run, state, steps
from tests.decisions.conftest import clock
from tests.decisions.making import agent, person, proposal
from tests.decisions.receiving import Receiver, endpoint, receiving
from tests.journeys.backups import back_up, restore
from tests.journeys.product import Product
from tests.resources.conftest import real_database

__all__ = ["clock", "real_database"]

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.timeout(300), pytest.mark.full]

PATIENCE = 60


@pytest.fixture
def maya(clock: Clock) -> User:
    return person(clock, "maya", "approver")


@pytest.fixture
def robot(clock: Clock, settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with receiving() as receiver:
        endpoint(clock, receiver, "restart")
        yield receiver


def servers() -> dict[str, str]:
    """Return the variables of a process on the database of this test."""
    return {
        "DATABASE_URL": database_url(),
        "IOA_SECRET_KEY": configured.SECRET_KEY,
        "IOA_SECRETS_KEY": ",".join(configured.SECRETS_KEYS),
        "IOA_WEBHOOKS_ALLOW_LOOPBACK": "true",
    }


@contextmanager
def worker(data: Path) -> Iterator[None]:
    """Run `ioa worker` as people start it, on the machine of this test."""
    environment = os.environ | servers() | {"IOA_DATA_DIR": str(data)}
    command = [sys.executable, "-m", "ioa_site.cli", "worker"]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        try:
            yield
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def until(true: Callable[[], object]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "It did not come about."
        time.sleep(0.1)


def rounds() -> int:
    """Return when the worker was last alive, as a number that grows."""
    found = Chore.objects.filter(name="loop").values_list("last_run_at", flat=True).first()
    return round(found.timestamp()) if found else 0


def wish(clock: Clock, name: str, maya: User) -> Proposal:
    """Approve that an agent starts anew."""
    return approve(clock, proposal(clock, agent(clock, name), actions=[restarting(name)]), maya)


def keys(*wishes: Proposal) -> list[str]:
    return [each.key for proposal in wishes for each in steps(proposal)]


def page(person: User, address: str) -> str:
    client = Client()
    client.force_login(person)
    return client.get(address).content.decode()


def lift_through_the_api(maya: User, hold: Hold) -> None:
    client = Client()
    client.force_login(maya)
    said = {"reason": "We restored it on purpose."}
    address = f"/api/v1/holds/{hold.pk}/lift"
    answer = client.post(address, said, content_type="application/json")
    assert answer.status_code == 200, answer.content


class Past(NamedTuple):
    """What is known outside of a database that was restored: effects, and an open wish."""

    seen: list[str]
    waiting: Proposal
    witness: witness.LocalCheckpoint | None


@pytest.fixture
def past(clock: Clock, maya: User, robot: Receiver, tmp_path: Path) -> Past:
    """Work, back up, work on and restore."""
    before, waiting = wish(clock, "before", maya), wish(clock, "waiting", maya)
    Proposal.objects.filter(pk=waiting.pk).update(run_at=clock.now.replace(year=2099))
    restore_watch.look(clock.now)
    run(clock)
    assert [state(before), state(waiting)] == ["verifying", "approved"]
    back_up(tmp_path / "backup")
    Proposal.objects.filter(pk=waiting.pk).update(run_at=clock.now)
    lost = wish(clock, "lost", maya)
    run(clock)
    past = Past(keys(before, waiting, lost), waiting, witness.read())
    assert robot.calls == dict.fromkeys(past.seen, 1)
    restore(tmp_path / "backup")
    assert not Proposal.objects.filter(uid=lost.uid).exists()
    Proposal.objects.filter(pk=waiting.pk).update(run_at=clock.now)
    return past


def test_after_a_restore_nothing_happens_until_a_person_agrees_and_then_nothing_twice(
    clock: Clock, maya: User, robot: Receiver, past: Past, data_folder: Path
) -> None:
    """I24 F17"""
    with worker(data_folder):
        until(Hold.objects.exists)
        begun = rounds()
        until(lambda: rounds() > begun + 5)
        assert robot.calls == dict.fromkeys(past.seen, 1)
        assert state(past.waiting) == "approved"
        hold = Hold.objects.get()
        assert "restored from a backup" in page(maya, f"/overrides/{hold.pk}")

        lift_through_the_api(maya, hold)
        until(lambda: state(past.waiting) == "verifying")
        clock.now = datetime.now(UTC)
        anew = wish(clock, "lost", maya)
        until(lambda: state(anew) == "verifying")

    # What was approved in the backup is asked for again, under the key that the machine knows.
    again = dict(zip(past.seen, (1, 2, 1), strict=True))
    assert robot.calls == again | dict.fromkeys(keys(anew), 1)
    first, second = (each["data"] for each in robot.bodies if each["data"]["key"] == past.seen[1])
    assert first["target"] == second["target"] == "agent/waiting"
    assert first["parameters"] == second["parameters"]
    now = witness.read()
    assert past.witness is not None
    assert now is not None
    assert now.incarnation != past.witness.incarnation
    assert database_lives.asking() is None


@pytest.mark.parametrize("command", ["web", "up"])
def test_what_serves_pages_closes_the_gate_before_it_answers(
    clock: Clock, command: str, data_folder: Path
) -> None:
    """I24"""
    agent(clock)
    restore_watch.look(clock.now)
    seen = witness.read()
    assert seen is not None
    witness.write(seen._replace(entry=seen.entry + 100, hash="0" * 64))
    product = Product(data_folder, given=servers(), command=command)

    with product:
        assert database_lives.asking() is not None

    assert "frozen by hold/" in product.said()
    assert f"has seen entry {seen.entry + 100:,}" in product.said()


def test_the_ledger_of_a_restored_database_is_whole(
    clock: Clock, maya: User, tmp_path: Path
) -> None:
    """F17: the freeze goes on where the backup ends."""
    agent(clock)
    restore_watch.look(clock.now)
    back_up(tmp_path / "backup")
    agent(clock, "lost")
    restore_watch.look(clock.now)

    restore(tmp_path / "backup")

    assert restore_watch.look(clock.now) is not None
    assert evidence.verify().findings == []
