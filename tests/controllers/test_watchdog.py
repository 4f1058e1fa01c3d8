"""A controller that has stopped must not leave its resources looking healthy."""

from __future__ import annotations

import pytest

from controllers.loop import registration, watchdog
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.controllers.faults import Fire
from tests.controllers.making import (
    KEEPER,
    controller,
    cycles,
    declare,
    domain,
    drifted,
    healthy,
    own,
    runtime,
    said,
    told,
    work,
)
from tests.resources.making import live

pytestmark = pytest.mark.django_db


def stalled() -> tuple[str, str]:
    return said(KEEPER, "Stalled", "Controller")


@pytest.fixture
def silence(clock: Clock) -> None:
    """A controller of two that has not been heard for three intervals and a little."""
    healthy(clock, "east")
    drifted(clock, "west")
    declare(clock, controller())
    work(clock)
    clock.advance(minutes=15, seconds=1)


@pytest.mark.usefixtures("silence")
def test_what_a_silent_controller_said_is_no_longer_known(clock: Clock) -> None:
    """D-05"""
    assert stalled() == ("False", "Running")
    assert watchdog.look(clock.now) == 2

    assert said("east") == said("west") == ("Unknown", "ControllerStalled")
    assert stalled() == ("True", "NoCycle")
    assert runtime().stalled_at == clock.now
    assert watchdog.census() == {"running": 0, "stopped": 0, "stalled": 1, "invalid": 0}
    flips = told("resource.condition-changed", subject="domain/east", actor="system/ioa")
    assert [each.payload["reason"] for each in flips] == ["ControllerStalled"]


@pytest.mark.usefixtures("silence")
def test_a_later_cycle_brings_the_truth_back(clock: Clock) -> None:
    """D-05"""
    watchdog.look(clock.now)
    [cycle] = work(clock)

    assert cycle.full
    assert (said("east")[0], said("west")[0]) == ("True", "False")
    assert stalled() == ("False", "Running")
    assert runtime().stalled_at is None
    assert watchdog.look(clock.now) == 0


@pytest.mark.usefixtures("silence")
def test_the_truth_comes_back_even_to_one_that_goes_by_changes(clock: Clock) -> None:
    """D-05 It looks at everything once, however seldom it does that otherwise."""
    declare(clock, controller(resyncInterval="7d"))
    work(clock)
    watchdog.look(clock.advance(minutes=16))
    assert said("east") == ("Unknown", "ControllerStalled")
    [cycle] = work(clock)

    assert cycle.full
    assert (said("east")[0], said("west")[0]) == ("True", "False")


def test_within_three_intervals_nothing_is_said(clock: Clock) -> None:
    """D-05"""
    healthy(clock, "east")
    declare(clock, controller())
    work(clock)

    assert watchdog.look(clock.advance(minutes=15)) == 0
    assert said("east") == ("True", "Converged")
    assert stalled() == ("False", "Running")


@pytest.mark.usefixtures("silence")
def test_it_is_said_once(clock: Clock) -> None:
    """A-11 F-57"""
    watchdog.look(clock.now)
    rows = list(Resource.objects.order_by("pk").values_list("pk", "resource_version"))
    entries = LedgerEvent.objects.count()
    for _ in range(3):
        assert watchdog.look(clock.advance(minutes=1)) == 0

    assert list(Resource.objects.order_by("pk").values_list("pk", "resource_version")) == rows
    assert LedgerEvent.objects.count() == entries


def test_one_that_never_ran_stalls_too(clock: Clock) -> None:
    """D-05"""
    declare(clock, controller())
    registration.sync(clock.now)
    watchdog.look(clock.advance(minutes=16))

    assert stalled() == ("True", "NoCycle")


def test_a_stopped_one_turns_its_resources_unknown(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-42"""
    healthy(clock, "east")
    declare(clock, controller(convergence={"errorLimit": 1}))
    work(clock)
    Fire(monkeypatch)
    clock.advance(minutes=5)
    work(clock)
    assert runtime().breaker == "open"
    watchdog.look(clock.advance(minutes=16))

    assert said("east") == ("Unknown", "ControllerStalled")
    assert said(KEEPER, "Ready", "Controller") == ("False", "CircuitOpen")


@pytest.mark.usefixtures("silence")
def test_other_controllers_conditions_stay(clock: Clock) -> None:
    """I-84"""
    declare(clock, controller("other", reconcileInterval="1h"))
    work(clock)
    watchdog.look(clock.advance(minutes=16))

    assert said("east")[1] == "ControllerStalled"
    assert said("east", "OtherConverged") == ("True", "Converged")


def test_many_resources_are_turned_a_few_at_a_time(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-05"""
    monkeypatch.setattr(watchdog, "SOME", 3)
    names = [f"berth-{number}" for number in range(7)]
    healthy(clock, *names)
    declare(clock, controller())
    work(clock)
    clock.advance(minutes=16)

    assert [watchdog.look(clock.now) for _ in range(4)] == [3, 3, 1, 0]
    assert {said(name)[1] for name in names} == {"ControllerStalled"}


def test_the_longest_interval_never_stalls(clock: Clock) -> None:
    """D-05"""
    declare(clock, controller(reconcileInterval="2700000d"), domain("east"))
    work(clock)

    assert watchdog.look(clock.advance(days=365_000)) == 0
    assert own("east") is not None
    assert len(cycles()) == 1
    assert live("Controller", KEEPER)
