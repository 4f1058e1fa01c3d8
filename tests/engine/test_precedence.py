"""Which hold stands in the way of an action."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations

import pytest

from controllers.engine.precedence import Kind, Reach, Standing, covers, sentence, strongest
from tests.rows import every_row

REACH = Reach(7, "growth", 3, ("spec.tokenBudget.maxDaily",))
EVERYTHING = Standing(1, "stop", "organisation", "An incident", "person/maya")
FROZEN = Standing(2, "freeze", "domain", "Quarter end", "person/maya", domain="growth")
PAUSED = Standing(3, "pause", "controller", "Too eager", "person/maya", controller=3)
OVERRIDDEN = Standing(4, "override", "resource", "We know", "person/maya", resource=7)


@every_row("holds", list(permutations((EVERYTHING, FROZEN, PAUSED, OVERRIDDEN))))
def test_the_widest_statement_counts_first(holds: tuple[Standing, ...]) -> None:
    """I2"""
    assert strongest(holds, REACH) == EVERYTHING


@pytest.mark.parametrize(
    ("left", "found"),
    [
        ((FROZEN, PAUSED, OVERRIDDEN), FROZEN),
        ((OVERRIDDEN, PAUSED), PAUSED),
        ((OVERRIDDEN,), OVERRIDDEN),
        ((), None),
    ],
)
def test_what_is_left_counts_in_its_order(
    left: tuple[Standing, ...], found: Standing | None
) -> None:
    """I2"""
    assert strongest(left, REACH) == found


@every_row(
    ("hold", "covered"),
    [
        (EVERYTHING, True),
        (FROZEN, True),
        (FROZEN._replace(domain="sales"), False),
        (PAUSED, True),
        (PAUSED._replace(controller=4), False),
        (PAUSED._replace(scope="resource", controller=None, resource=7), True),
        (OVERRIDDEN, True),
        (OVERRIDDEN._replace(resource=8), False),
    ],
)
def test_a_hold_reaches_as_far_as_its_scope(hold: Standing, covered: bool) -> None:
    """I2"""
    assert covers(hold, REACH) == covered


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("spec.tokenBudget.maxDaily", True),
        ("spec.tokenBudget", True),
        ("spec.tokenBudget.maxDaily.anything", True),
        ("spec.tokenBudgets", False),
        ("spec.tokenBudget.maxMonthly", False),
        ("spec", True),
    ],
)
def test_a_field_is_held_with_what_it_holds_and_what_holds_it(path: str, covered: bool) -> None:
    """I2"""
    hold = OVERRIDDEN._replace(scope="field", path=path)

    assert covers(hold, REACH) == covered


def test_an_action_that_names_no_field_may_touch_any() -> None:
    """I2"""
    hold = OVERRIDDEN._replace(scope="field", path="spec.model")

    assert covers(hold, REACH._replace(touches=()))


def test_items_of_a_list_belong_to_the_list() -> None:
    hold = OVERRIDDEN._replace(scope="field", path="spec.objectives")

    assert covers(hold, REACH._replace(touches=("spec.objectives[0].value",)))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("stop", "Everything is stopped by person/maya: Because."),
        ("freeze", "Changes are frozen by person/maya: Because."),
        ("pause", "It is paused by person/maya: Because."),
        ("override", "A person overrides it by person/maya: Because."),
    ],
)
def test_people_read_who_holds_it_and_why(kind: Kind, said: str) -> None:
    assert sentence(EVERYTHING._replace(kind=kind, reason="Because.")) == said


def test_people_read_until_when_it_is_held() -> None:
    until = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)

    assert "until 2026-11-20 18:00 UTC" in sentence(PAUSED._replace(ends_at=until))
