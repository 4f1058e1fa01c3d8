"""Laws of any story of drift: it ends, it counts, it settles, and it waits for people."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine.convergence import Observation
from controllers.engine.terms import Limits
from tests.engine.episodes import DRIFT, MINUTE, WAITING, story
from tests.tiers import examples

digests = st.sampled_from(["", "scale", "throttle", "restart"])
looks = st.builds(
    Observation,
    drifted=st.sampled_from([True, True, False, None]),
    score=st.none() | st.floats(0, 1),
    acted=digests,
    failed=st.booleans(),
    outside=st.booleans(),
    generation_changed=st.booleans(),
    waiting=st.booleans(),
    rival=st.sampled_from(["", "controller/rival"]),
)
bounds = st.builds(
    Limits,
    iterations=st.integers(1, 6),
    deadline=st.integers(1, 90).map(lambda minutes: minutes * MINUTE),
    settling=st.integers(0, 5).map(lambda minutes: minutes * MINUTE),
    regressions=st.integers(1, 4),
    errors=st.integers(1, 4),
)


@settings(max_examples=examples(200))
@given(st.lists(looks, min_size=1, max_size=40), bounds)
def test_any_story_with_an_action_at_every_look_ends_within_its_bounds(
    seen: list[Observation], limits: Limits
) -> None:
    """D-37 X-20"""
    told = story([each._replace(acted=each.acted or "restart") for each in seen], limits)

    actions = 0
    for episode, each in zip(told, seen, strict=True):
        if episode.parked or episode.state == "converged":
            actions = 0
        elif each.drifted is not False:
            actions += 1
        assert actions < limits.iterations


@settings(max_examples=examples(200))
@given(st.lists(looks, min_size=2, max_size=40), bounds)
def test_counters_only_grow_until_the_story_ends(seen: list[Observation], limits: Limits) -> None:
    told = story([each._replace(generation_changed=False) for each in seen], limits)

    for before, after in pairwise(told):
        ended = "converged" in (before.state, before.reason, after.state)
        assert ended or before.iterations <= after.iterations <= before.iterations + 2
        assert after.errors <= before.errors + 1
        assert after.regressions <= before.regressions + 1
        assert after.relapses <= before.relapses + 1


@settings(max_examples=examples(200))
@given(st.lists(looks, min_size=1, max_size=40), bounds)
def test_nothing_converges_before_it_settled(seen: list[Observation], limits: Limits) -> None:
    """D-39"""
    told = story([DRIFT, *seen], limits)

    away = 0
    for minute, (episode, each) in enumerate(zip(told, [DRIFT, *seen], strict=True)):
        if each.drifted:
            away = minute + 1
        if episode.state == "converged":
            assert each.drifted is False
            assert (minute - away) * MINUTE >= limits.settling


@settings(max_examples=examples(200))
@given(st.lists(looks, min_size=1, max_size=40), bounds)
def test_waiting_for_ever_ends_nothing(seen: list[Observation], limits: Limits) -> None:
    waited = [each._replace(acted="", failed=False) for each in seen]

    for episode, each in zip(story(waited, limits), waited, strict=True):
        assert not episode.parked
        assert (episode.state == "drifting") == (each.drifted is True)
        assert (episode.iterations, episode.relapses, episode.since) == (0, 0, None)


@settings(max_examples=examples(200))
@given(st.lists(looks, max_size=20), bounds)
def test_waiting_after_actions_ends_nothing_either(
    seen: list[Observation], limits: Limits
) -> None:
    [*_, begun] = story([DRIFT, *seen, DRIFT._replace(waiting=True)], limits)

    waited = story([WAITING] * 200, limits, begun)

    assert {each.parked for each in waited} == {begun.parked}
