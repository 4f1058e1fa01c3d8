"""Episodes: how they go on and how they end."""

from __future__ import annotations

import pytest

from controllers.engine.convergence import Observation, advance
from controllers.engine.terms import Episode, Limits
from tests.engine.episodes import (
    ACTED,
    CURED,
    DRIFT,
    FAILED,
    GONE,
    HOUR,
    MINUTE,
    NOON,
    SETTLING,
    UNKNOWN,
    USUAL,
    WAITING,
    scores,
    states,
    story,
)
from tests.rows import every_row


def test_a_healthy_resource_has_no_story() -> None:
    episode = Episode()

    assert advance(episode, GONE, USUAL, NOON) is episode


def test_drift_is_acted_on_settles_and_converges() -> None:
    """D-36 D-39"""
    told = story([DRIFT, ACTED, GONE, GONE, GONE, GONE], SETTLING)

    assert states(told) == [
        "drifting",
        "converging",
        "settling",
        "settling",
        "settling",
        "converged",
    ]


def test_without_a_settling_period_it_converges_at_once() -> None:
    told = story([DRIFT, CURED])

    assert states(told) == ["drifting", "converged"]
    assert told[-1] == Episode(settled_at=NOON + MINUTE, tried="scale")


def test_what_went_away_by_itself_leaves_nothing_behind() -> None:
    assert story([DRIFT, GONE])[-1] == Episode()


def test_what_was_done_is_counted_once() -> None:
    done = story([DRIFT])[-1]._replace(acted="scale", failed=True)

    after = advance(done, ACTED._replace(failed=True), USUAL, NOON)

    assert (after.acted, after.failed, after.tried) == ("", False, "scale")


def test_a_dip_below_the_threshold_is_not_convergence() -> None:
    """D-39"""
    told = story([DRIFT, GONE, DRIFT, GONE, GONE, DRIFT], SETTLING)

    assert states(told) == [
        "drifting",
        "settling",
        "drifting",
        "settling",
        "settling",
        "drifting",
    ]


def test_an_action_that_does_not_help_yet_stays_converging_until_people_are_asked() -> None:
    told = story([DRIFT, ACTED, DRIFT, WAITING])

    assert states(told) == ["drifting", "converging", "converging", "drifting"]


def test_drift_that_never_goes_ends_after_so_many_actions() -> None:
    """D-37 X-20"""
    told = story([DRIFT] + [ACTED] * 10)

    assert states(told[:-1]) == ["drifting"] + ["converging"] * 9
    assert (told[-1].state, told[-1].reason) == ("exhausted", "MaxIterations")
    assert told[-1].iterations == 10


def test_a_look_without_an_action_is_no_iteration() -> None:
    told = story([DRIFT, DRIFT, ACTED, DRIFT, DRIFT])

    assert [each.iterations for each in told] == [0, 0, 1, 1, 1]


def test_a_relapse_while_settling_is_an_iteration() -> None:
    told = story([DRIFT, CURED, DRIFT], SETTLING)

    assert (told[-1].state, told[-1].iterations, told[-1].relapses) == ("drifting", 1, 1)


def test_drift_that_comes_and_goes_by_itself_is_no_iteration_and_no_relapse() -> None:
    told = story([DRIFT, GONE] * 30, SETTLING)

    assert {(each.iterations, each.relapses, each.parked) for each in told} == {(0, 0, False)}


def test_drift_that_is_never_fixed_ends_at_the_deadline() -> None:
    """D-36"""
    limits = Limits(deadline=HOUR)
    told = story([DRIFT] * 30 + [ACTED] + [DRIFT] * 60, limits)

    assert states(told[:-1]) == ["drifting"] * 30 + ["converging"] * 60
    assert (told[-1].state, told[-1].reason) == ("exhausted", "Deadline")


def test_the_deadline_counts_on_through_a_relapse_while_settling() -> None:
    told = story([DRIFT, CURED, DRIFT], SETTLING)

    assert told[-1].since == NOON + MINUTE


def test_the_deadline_counts_afresh_after_convergence() -> None:
    told = story([DRIFT, CURED, DRIFT, ACTED])

    assert told[-1].since == NOON + 3 * MINUTE


def test_the_clock_stands_while_people_decide() -> None:
    limits = Limits(deadline=HOUR)
    told = story([DRIFT, ACTED] + [WAITING] * 100 + [ACTED] + [DRIFT] * 59, limits)

    assert not told[-1].parked
    assert told[-1].since == NOON + 102 * MINUTE
    assert advance(told[-1], DRIFT, limits, NOON + 162 * MINUTE).reason == "Deadline"


def test_errors_in_a_row_end_it() -> None:
    """D-36"""
    told = story([DRIFT] + [FAILED] * 5)

    assert [each.errors for each in told] == [0, 1, 2, 3, 4, 5]
    assert (told[-1].state, told[-1].reason) == ("exhausted", "ErrorLimit")


def test_an_action_that_works_clears_the_errors_and_waiting_does_not() -> None:
    told = story([DRIFT, FAILED, FAILED, DRIFT, FAILED, ACTED, FAILED])

    assert [each.errors for each in told] == [0, 1, 2, 2, 3, 0, 1]


@pytest.mark.parametrize("looks", [[GONE], [DRIFT], [DRIFT, ACTED], [DRIFT, ACTED, GONE]])
def test_the_unknown_leads_back_to_where_it_was(looks: list[Observation]) -> None:
    [*_, known] = story(looks, SETTLING)
    again = Observation(known.state in ("drifting", "converging"), known.best)

    [*_, unknown] = story([UNKNOWN, UNKNOWN], SETTLING, known)

    assert unknown == known._replace(state="unknown", reason=known.state)
    assert advance(unknown, again, SETTLING, NOON) == advance(known, again, SETTLING, NOON)
    assert advance(unknown, again, SETTLING, NOON).state == known.state


def test_the_unknown_is_never_healthy() -> None:
    assert states(story([UNKNOWN] * 3)) == ["unknown"] * 3


def test_drift_that_returns_after_the_unknown_is_a_relapse_all_the_same() -> None:
    told = story([DRIFT, CURED, UNKNOWN, DRIFT])

    assert told[-1].relapses == 1


def test_an_action_whose_effect_is_unknown_is_not_forgotten() -> None:
    """D-37"""
    blind = Observation(None, acted="scale")
    told = story([DRIFT, blind, DRIFT] + [blind, DRIFT] * 9)

    assert (told[1].state, told[1].iterations, told[2].state) == ("unknown", 1, "converging")
    assert told[-1].reason == "MaxIterations"


def test_no_deadline_passes_while_nothing_is_known() -> None:
    told = story([DRIFT, ACTED, *[UNKNOWN] * 120, DRIFT], Limits(deadline=HOUR))

    assert states(told[2:-1]) == ["unknown"] * 120
    assert told[-1].reason == "Deadline"


def test_errors_count_while_nothing_is_known() -> None:
    told = story([DRIFT] + [Observation(None, failed=True)] * 5)

    assert told[-1].reason == "ErrorLimit"


PARKED = [
    story([DRIFT] + [ACTED] * 10)[-1],
    story([DRIFT] + [FAILED] * 5)[-1],
    story(scores(0.5, 0.6, 0.7, 0.8))[-1],
    story([DRIFT, *[CURED, DRIFT] * 3])[-1],
]


@every_row("episode", PARKED)
@every_row("seen", [GONE, DRIFT, ACTED, FAILED, UNKNOWN])
def test_what_is_parked_stays_parked_whatever_happens(episode: Episode, seen: Observation) -> None:
    assert episode.parked

    assert advance(episode, seen._replace(outside=True), USUAL, NOON + 999 * HOUR) == episode


@every_row("episode", PARKED)
@every_row(
    ("seen", "after"),
    [
        (GONE, Episode("settling", settled_at=NOON)),
        (DRIFT, Episode("drifting", best=0.5)),
        (UNKNOWN, Episode("unknown", reason="drifting")),
    ],
)
def test_a_new_generation_starts_what_is_parked_afresh(
    episode: Episode, seen: Observation, after: Episode
) -> None:
    changed = seen._replace(generation_changed=True)

    assert advance(episode, changed, SETTLING, NOON) == after


def test_a_new_generation_does_not_excuse_what_is_not_parked() -> None:
    told = story([DRIFT, ACTED, ACTED._replace(generation_changed=True, outside=True)])

    assert told[-1].iterations == 2


@pytest.mark.parametrize(
    "looks",
    [
        [DRIFT, *[ACTED] * 5],
        [DRIFT, *[FAILED] * 2],
        [DRIFT, CURED, DRIFT],
        scores(0.5, 0.6),
    ],
)
def test_lower_limits_alone_end_nothing(looks: list[Observation]) -> None:
    [*_, episode] = story(looks)
    strict = Limits(iterations=1, regressions=1, errors=1)

    assert not advance(episode, DRIFT, strict, NOON).parked
    assert advance(episode, ACTED, strict, NOON).parked
