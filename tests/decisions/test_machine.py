"""Whatever people, agents, workers and time do, in whatever order: every promise is kept.

`MACHINE_STEPS=1000000 ./ioa test -m slow tests/decisions/test_machine.py` plays for longer.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.decisions import world
from tests.decisions.bugs import BUGS, planted
from tests.decisions.machine import Machine
from tests.tiers import quick_first

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(900)]

# The long games have a command of their own, above.
GAMES = 8
STEPS, LENGTH = 1_250, 60
# As many steps as a planted bug is given to show itself.
ENOUGH = 3_000
PLAIN = (
    "an effect does not ask for holds",
    "whoever has a part in it approves",
    "an old form is taken",
    "a target that was declared anew is changed all the same",
    "an operator lifts",
)


def played(number: int, steps: int, *phases: Phase) -> Counter[str]:
    """Play at least so many steps, always the same ones for a number; return what happened."""

    class Game(Machine):
        """One game, with a world and a tally of its own."""

    Game.world, Game.tally = world.made_anew(), Counter()
    chosen = settings(
        max_examples=5,
        stateful_step_count=LENGTH,
        database=None,
        deadline=None,
        phases=(Phase.generate, *phases),
        # An example is long and writes to a database: it is neither small nor fast.
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        report_multiple_bugs=False,
    )
    for part in count(1_000 * number):
        run_state_machine_as_test(seed(part)(Game), settings=chosen)
        if Game.tally["steps"] >= steps:
            break
    return Game.tally


@pytest.mark.full
@pytest.mark.sqlite
@pytest.mark.parametrize("number", range(GAMES))
def test_every_promise_is_kept(number: int) -> None:
    """I1 to I5, I7 to I11, I14 and the lifecycle: 10,000 steps altogether."""
    tally = played(number, STEPS, Phase.shrink)

    assert tally["steps"] >= STEPS
    assert min(tally[each] for each in ("told executed", "told hold.placed", "forbidden"))


@pytest.mark.servers
def test_every_promise_is_kept_on_any_database() -> None:
    assert played(GAMES, 150, Phase.shrink)["steps"] >= 150


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_every_promise_is_kept_for_long() -> None:
    steps = int(os.environ.get("MACHINE_STEPS", "200000"))

    assert played(GAMES + 1, steps, Phase.shrink)["steps"] >= steps


@pytest.mark.sqlite
@pytest.mark.parametrize("name", quick_first(PLAIN))
def test_the_judge_notices_a_planted_bug(name: str) -> None:
    (found,) = (each for each in BUGS if each.name == name)
    with planted(found), pytest.raises(AssertionError):
        played(1, ENOUGH)
