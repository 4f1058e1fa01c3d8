"""Actions that make it worse, and actions whose effect does not last."""

from __future__ import annotations

import pytest

from controllers.engine.convergence import Observation, advance
from controllers.engine.terms import Episode, Limits
from tests.engine.episodes import (
    ACTED,
    CURED,
    DRIFT,
    GONE,
    MINUTE,
    NOON,
    SETTLING,
    USUAL,
    scores,
    story,
)

UNDONE = ACTED._replace(rival="controller/rival")


def test_three_actions_that_make_it_worse_are_thrashing() -> None:
    """D-38"""
    told = story(scores(0.5, 0.6, 0.7, 0.8))

    assert [each.regressions for each in told] == [0, 1, 2, 3]
    assert (told[-1].state, told[-1].reason) == ("thrashing", "Regressed")


def test_a_flip_flop_is_thrashing() -> None:
    """D-38"""
    told = story(scores(0.5, 0.7, 0.5, 0.7, 0.5, 0.7))

    assert (told[-1].state, told[-1].regressions) == ("thrashing", 3)
    assert not told[-2].parked


def test_progress_forgives_what_made_it_worse() -> None:
    told = story(scores(0.5, 0.6, 0.7, 0.4, 0.5, 0.5))

    assert [each.regressions for each in told] == [0, 1, 2, 0, 1, 2]


def test_an_equal_score_is_neither_worse_nor_better() -> None:
    told = story(scores(0.5, 0.6, 0.5, 0.5))

    assert [each.regressions for each in told] == [0, 1, 1, 1]


def test_what_the_world_makes_worse_is_not_our_regression() -> None:
    """X-21"""
    told = story(scores(0.2, 0.3, 0.4, 0.5, 0.6, 0.7, outside=True))

    assert told[-1].regressions == 0
    assert told[-1].best == 0.7


def test_a_new_generation_is_measured_anew() -> None:
    """X-21"""
    told = story([each._replace(generation_changed=True) for each in scores(0.2, 0.3, 0.4, 0.5)])

    assert (told[-1].best, told[-1].regressions) == (0.5, 0)


def test_what_gets_worse_before_any_action_is_not_our_regression() -> None:
    """X-21"""
    waited = [Observation(True, score) for score in (0.2, 0.4, 0.6)]
    told = story([*waited, Observation(True, 0.5, acted="scale")])

    assert (told[-1].best, told[-1].regressions) == (0.5, 0)


def test_a_late_effect_is_progress() -> None:
    told = story([*scores(0.5, 0.6), Observation(True, 0.3)])

    assert (told[-1].best, told[-1].regressions) == (0.3, 0)


def test_a_drift_without_a_score_has_no_regressions() -> None:
    told = story([Observation(True, None, acted="scale")] * 9)

    assert (told[-1].best, told[-1].regressions, told[-1].iterations) == (None, 0, 9)


@pytest.mark.parametrize("outside", [True, False])
@pytest.mark.parametrize("limits", [USUAL, SETTLING])
def test_two_controllers_that_undo_each_other_are_seen(outside: bool, limits: Limits) -> None:
    """D-38 What changed outside does not excuse a relapse."""
    back = DRIFT._replace(outside=outside)
    told = story([DRIFT, *[CURED, back] * 3], limits)

    assert [each.relapses for each in told] == [0, 0, 1, 1, 2, 2, 3]
    assert (told[-1].state, told[-1].reason) == ("thrashing", "Relapsed")
    assert not told[-2].parked


def test_another_action_starts_the_count_of_relapses_again() -> None:
    other = CURED._replace(acted="throttle")
    told = story([DRIFT, CURED, DRIFT, CURED, DRIFT, other, DRIFT, CURED, DRIFT])

    assert [each.relapses for each in told] == [0, 0, 1, 1, 2, 0, 1, 0, 1]


def test_drift_that_comes_back_after_a_long_time_is_a_new_story() -> None:
    [*_, converged] = story([DRIFT, CURED, DRIFT, CURED])
    settled = NOON + 3 * MINUTE

    soon = advance(converged, DRIFT, USUAL, settled + USUAL.deadline)
    late = advance(converged, DRIFT, USUAL, settled + USUAL.deadline + MINUTE)

    assert (soon.relapses, soon.tried) == (2, "scale")
    assert late == Episode("drifting", best=0.5)


def test_what_went_away_by_itself_breaks_the_row_of_relapses() -> None:
    told = story([DRIFT, CURED, DRIFT, GONE, DRIFT, CURED, DRIFT])

    assert [each.relapses for each in told] == [0, 0, 1, 0, 0, 0, 1]


def test_a_rival_that_undoes_every_action_before_the_next_look_is_named() -> None:
    """D-38"""
    told = story([DRIFT, *[UNDONE] * 3])

    assert [each.relapses for each in told] == [0, 1, 2, 3]
    assert (told[-1].state, told[-1].reason) == ("thrashing", "Relapsed")
    assert [each.rival for each in told] == ["", "", "", "controller/rival"]


def test_a_return_of_the_drift_counts_once_even_if_a_rival_brought_it_back() -> None:
    told = story([DRIFT, CURED, UNDONE, UNDONE])

    assert [each.relapses for each in told] == [0, 0, 1, 2]


def test_another_action_that_a_rival_undoes_begins_a_row_of_its_own() -> None:
    told = story([DRIFT, CURED, UNDONE._replace(acted="throttle")])

    assert told[-1].relapses == 1


def test_what_a_rival_changes_while_we_do_nothing_undoes_nothing() -> None:
    told = story([DRIFT._replace(rival="controller/rival")] * 9)

    assert (told[-1].relapses, told[-1].parked) == (0, False)
