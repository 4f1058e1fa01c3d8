"""Controllers that undo each other, whose condition it is, and how much one may change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from controllers.engine import act, conditions
from controllers.engine.convergence import Observation
from controllers.engine.plan import paced
from controllers.engine.precedence import Standing
from controllers.engine.terms import (
    ORPHANED,
    Action,
    Condition,
    Drift,
    Episode,
    Planned,
    Resource,
    Result,
    Ruling,
    Snapshot,
    Step,
)
from tests.engine.episodes import ACTED, DRIFT, GONE, story
from tests.engine.measuring import USUAL

UNDONE = ACTED._replace(rival="controller/other")
HARBOUR = Resource(1, "u", "Domain", "harbour", "harbour", 1, 1, {}, {}, {})
OWN = "DomainHealthConverged"
NOW = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)
FREE = replace(USUAL, mode="enforce", approval="auto")


def test_three_actions_that_a_rival_undid_are_thrashing() -> None:
    """D-38"""
    told = story([DRIFT, UNDONE, UNDONE, UNDONE])

    assert [each.relapses for each in told] == [0, 1, 2, 3]
    ended = told[-1]
    assert (ended.state, ended.reason, ended.rival) == (
        "thrashing",
        "Relapsed",
        "controller/other",
    )


def test_a_rival_counts_only_against_an_action() -> None:
    """D-38"""
    seen = Observation(True, 0.5, rival="controller/other")

    assert story([DRIFT, seen, seen, seen, seen])[-1].relapses == 0


def test_the_rival_of_a_relapse_is_named() -> None:
    """D-38"""
    back = Observation(True, 0.5, rival="controller/other")
    told = story([DRIFT, ACTED, GONE, back, ACTED, GONE, back, ACTED, GONE, back])

    assert (told[-1].state, told[-1].rival) == ("thrashing", "controller/other")


def test_what_was_given_up_remembers_its_rival() -> None:
    """D-38"""
    parked = Episode("thrashing", reason="Relapsed", rival="controller/other")

    assert story([DRIFT, GONE], episode=parked)[-1] == parked


def stated(managed_by: str, reason: str = "") -> Resource:
    said = (
        Condition("Ready", "True"),
        Condition(OWN, "True", reason, "", managed_by),
    )
    return HARBOUR._replace(conditions=said)


@pytest.mark.parametrize("owner", ["", "controller/other", "system/ioa"])
def test_a_condition_of_somebody_else_is_not_claimed(owner: str) -> None:
    """I-84 I-85"""
    mine = replace(USUAL, condition_type=OWN)
    with pytest.raises(conditions.ConditionTypeTaken, match="name another conditionType"):
        conditions.claim(mine, stated(owner))
    said = Condition(OWN, "False", managed_by=mine.ref)
    assert conditions.news(stated(owner), said) is None


@pytest.mark.parametrize(
    "found", [HARBOUR, stated(USUAL.ref), stated("controller/gone", ORPHANED)]
)
def test_a_condition_of_nobody_else_is_claimed(found: Resource) -> None:
    """I-84"""
    mine = replace(USUAL, condition_type=OWN)
    conditions.claim(mine, found)
    said = Condition(OWN, "False", managed_by=mine.ref)
    assert conditions.news(found, said) == said


class Hand:
    """Does everything, and counts."""

    changes = 0
    holds: tuple[Standing, ...] = ()
    only_propose = False
    earned: frozenset[tuple[str, str]] = frozenset()
    now = NOW

    def traits(self, action: Action) -> act.Traits:
        """Know nothing of an action."""
        return act.Traits()

    def check(self) -> None:
        """Never end it."""

    def tell_instead(self, action: Action, snapshot: Snapshot, ruling: Ruling) -> None:
        """Tell nobody."""

    def perform(self, action: Action, snapshot: Snapshot) -> Result:
        """Do it."""
        return "failure" if action.operation == "fail" else "success"


def planned(*operations: str) -> Planned:
    actions = tuple(
        Action(number, "reconcile", operation, "change", "domain/harbour")
        for number, operation in enumerate(operations)
    )
    drift = Drift(1.0, True, ())
    return Planned(Snapshot(HARBOUR), drift, "drifted", "", Episode(), actions)


@pytest.mark.parametrize(
    ("most", "results"),
    [
        (None, ["success", "failure", "success"]),
        (3, ["success", "failure", "success"]),
        (2, ["success", "failure", "skipped"]),
        (1, ["success", "skipped", "skipped"]),
    ],
)
def test_so_many_changes_and_no_more(most: int | None, results: list[str]) -> None:
    """I-105 A change that failed was one."""
    hand = Hand()
    outcomes = act.execute(replace(FREE, most_actions=most), planned("a", "fail", "b"), hand)

    assert [each.result for each in outcomes] == results
    assert act.put_off(outcomes) == ("skipped" in results)


def test_the_count_goes_on_from_resource_to_resource() -> None:
    """I-105"""
    hand, few = Hand(), replace(FREE, most_actions=3)
    act.execute(few, planned("a", "b"), hand)
    outcomes = act.execute(few, planned("a", "b"), hand)

    assert [each.result for each in outcomes] == ["success", "skipped"]


@pytest.mark.parametrize(
    "parameters",
    [{}, {"from": 1}, {"from": "idle", "to": "archived"}, {"from": True, "to": 3}],
)
def test_a_step_without_figures_goes_the_whole_way(parameters: dict[str, object]) -> None:
    """I-16"""
    step = Step("archive", parameters, "change", "low", True, "", "")

    assert paced(step, "gradual") is step
