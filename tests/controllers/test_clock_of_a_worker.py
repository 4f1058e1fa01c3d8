"""A machine whose clock is wrong does nothing: what it claims would stay claimed for everybody."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controllers.common import clocks
from controllers.models import Chore
from controllers.worker.worker_loop import Loop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]


def shift(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    true = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: true() + by)


@pytest.mark.postgres
@pytest.mark.parametrize("hours", [24, -24, 1, -1])
def test_a_worker_whose_clock_is_wrong_does_nothing_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, hours: int
) -> None:
    """F9"""
    with monkeypatch.context() as moved:
        shift(moved, timedelta(hours=hours))
        loop = Loop()
        loop.tick(loop.holder)
        loop.tick(loop.holder)

    assert not Chore.objects.exists()
    assert [each.message for each in caplog.records] == [
        "The clock of this machine is not the database's: it does nothing."
    ]


@pytest.mark.postgres
def test_a_worker_goes_on_when_its_clock_is_right_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """F9"""
    loop = Loop(None)
    with monkeypatch.context() as moved:
        shift(moved, timedelta(days=1))
        late = Loop()
        late.tick(late.holder)

    loop.tick(loop.holder)

    assert Chore.objects.exists()
    assert not loop.astray


@pytest.mark.postgres
def test_an_answer_that_takes_long_says_nothing_about_the_clock() -> None:
    start = timezone.now()
    readings = iter([start - timedelta(minutes=5), start + timedelta(minutes=5)])

    assert clocks.astray(lambda: next(readings)) == timedelta(0)


@pytest.mark.sqlite
def test_a_file_on_this_machine_has_no_other_clock() -> None:
    assert clocks.astray(lambda: timezone.now() + timedelta(days=1)) == timedelta(0)
