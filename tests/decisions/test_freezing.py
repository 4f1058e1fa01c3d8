"""Changes are frozen once, from then until then, or whenever a window is open."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from controllers.decisions import holds
from controllers.decisions.holds import HoldRequest
from controllers.engine.precedence import Reach
from controllers.models import Hold
from tests.conftest import Clock
from tests.decisions.making import agent
from tests.problems import refuses

pytestmark = pytest.mark.django_db

TOKYO = ZoneInfo("Asia/Tokyo")


def freeze(clock: Clock, person: User, scope: str = "organisation", **given: Any) -> Hold:
    wanted = HoldRequest("freeze", scope, "The books are closed.", **given)
    return holds.place(wanted, person=person, now=clock.now).hold


def window(clock: Clock, hours: float, duration: str) -> dict[str, str]:
    """Make a window that opens every day, some hours from now by the clock of Tokyo."""
    opens = (clock.now + timedelta(hours=hours)).astimezone(TOKYO)
    cron = f"{opens.minute} {opens.hour} * * *"
    return {"cron": cron, "timezone": "Asia/Tokyo", "duration": duration}


def frozen(clock: Clock) -> bool:
    return holds.covering(Reach(1, "growth"), clock.now) is not None


def test_an_announced_freeze_stands_from_its_start_to_its_end(clock: Clock, ines: User) -> None:
    start, end = clock.now + timedelta(days=1), clock.now + timedelta(days=3)
    hold = freeze(clock, ines, starts_at=start, ends_at=end)
    assert not frozen(clock)

    clock.now = start
    assert frozen(clock)
    clock.now = end - timedelta(seconds=1)
    assert holds.standing(clock.now)[0].ends_at == end
    clock.now = end
    assert not frozen(clock)
    assert hold.remind_at == end - timedelta(days=1)


def test_an_announced_freeze_lasts_a_week_from_its_start(clock: Clock, ines: User) -> None:
    start = clock.now + timedelta(days=5)

    assert freeze(clock, ines, starts_at=start).ends_at == start + timedelta(days=7)


def test_a_window_opens_and_closes_by_itself_until_the_freeze_ends(
    clock: Clock, ines: User
) -> None:
    hold = freeze(clock, ines, window=window(clock, 1, "3h"))
    begins = clock.now.replace(second=0, microsecond=0) + timedelta(hours=1)
    assert not frozen(clock)

    for day in range(7):
        clock.now = begins + timedelta(days=day)
        assert frozen(clock)
        clock.advance(hours=2, minutes=59)
        assert holds.standing(clock.now)[0].ends_at == begins + timedelta(days=day, hours=3)
        assert not (clock.advance(minutes=1) and frozen(clock))
    clock.now = begins + timedelta(days=7)
    assert clock.now > (hold.ends_at or clock.now)
    assert not frozen(clock)


def test_a_window_that_is_open_now_freezes_at_once_and_ends_with_its_freeze(
    clock: Clock, ines: User
) -> None:
    end = clock.now + timedelta(hours=1)
    freeze(clock, ines, window=window(clock, -1, "5h"), ends_at=end)

    (standing,) = holds.standing(clock.now)

    assert (standing.kind, standing.ends_at) == ("freeze", end)


def test_a_domain_is_frozen_alone(clock: Clock, ines: User) -> None:
    agent(clock, domain="growth")
    freeze(clock, ines, "domain", domain="growth")

    assert holds.covering(Reach(1, "growth"), clock.now) is not None
    assert holds.covering(Reach(1, "harbour"), clock.now) is None


GOOD = {"cron": "0 18 * * 5", "timezone": "Europe/Brussels", "duration": "62h"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"cron": "0 18 * *"},
        {"cron": None},
        {"cron": ["0 18 * * 5"]},
        {"timezone": "Mars/Olympus"},
        {"timezone": "../../etc/passwd"},
        {"duration": "a while"},
        {"duration": "32d"},
        {"duration": 62},
        {"colour": "blue"},
    ],
)
def test_a_window_that_cannot_be_read_is_refused(
    clock: Clock, ines: User, wrong: dict[str, Any]
) -> None:
    with refuses("invalid", match=r"A window has a cron such as 0 18 \* \* 5"):
        freeze(clock, ines, window=GOOD | wrong)
    assert not Hold.objects.exists()


def test_a_window_that_lacks_a_part_is_refused(clock: Clock, ines: User) -> None:
    for name in GOOD:
        with refuses("invalid", match="A window has a cron"):
            freeze(clock, ines, window={key: GOOD[key] for key in GOOD if key != name})


def test_a_window_is_kept_as_it_was_written(clock: Clock, ines: User) -> None:
    hold = freeze(clock, ines, window=GOOD)

    hold.refresh_from_db()
    assert hold.window == GOOD


def test_only_a_single_freeze_begins_later(clock: Clock, ines: User) -> None:
    later = clock.now + timedelta(days=1)

    with refuses("invalid", match="Only a freeze that does not come back"):
        freeze(clock, ines, window=GOOD, starts_at=later)
    stop = HoldRequest("stop", "organisation", "Later.", starts_at=later)
    with refuses("invalid", match="Only a freeze that does not come back"):
        holds.place(stop, person=ines, now=clock.now)


def test_a_freeze_does_not_end_before_it_begins(clock: Clock, ines: User) -> None:
    later = clock.now + timedelta(days=2)

    with refuses("invalid", match="It would end before it begins"):
        freeze(clock, ines, starts_at=later, ends_at=later - timedelta(days=1))
