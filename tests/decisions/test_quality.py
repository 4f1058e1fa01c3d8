"""How well people decide: known of controllers to all, of a person to that person alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import answers
from controllers.models import Proposal
from controllers.trust import decision_quality
from resources.tables.models import Resource
from tests.api.deciding import as_user, good, problem
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, person, proposal, seen

pytestmark = pytest.mark.django_db

WHY = "Because it is so."
KEEPER = "controller/keeper"


@pytest.fixture
def keeper(clock: Clock) -> Resource:
    return controller(clock)


def decided(
    clock: Clock, owner: Resource, who: User, verb: str, after: timedelta, **outcome: Any
) -> Proposal:
    """Make a proposal that somebody answered after some time."""
    name = f"agent-{Proposal.objects.count()}"
    row = proposal(clock, agent(clock, name), owner, actions=[action(name)])
    Proposal.objects.filter(pk=row.pk).update(created_at=clock.now - after)
    getattr(answers, verb)(row.pk, person=who, seen=seen(row), now=clock.now, reason=WHY)
    Proposal.objects.filter(pk=row.pk).update(**outcome or {"attempts": 0})
    return row


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def test_a_controller_shows_how_long_people_take_and_what_they_regret(
    clock: Clock, keeper: Resource, maya: User
) -> None:
    for number in (1, 2, 9):
        decided(clock, keeper, maya, "approve", minutes(number))
    decided(clock, keeper, maya, "approve", minutes(1), state="rolled_back", answer="undo")
    decided(clock, keeper, maya, "reject", minutes(3))

    found = decision_quality.of_controller(KEEPER, clock.now)

    assert (found.answers, found.approved, found.rejected, found.reverted) == (5, 4, 1, 1)
    assert (found.typical, found.revert_rate) == (minutes(2), 0.25)
    assert found.slow is not None
    assert minutes(3) < found.slow <= minutes(9)


def test_of_nothing_nothing_is_said(clock: Clock) -> None:
    found = decision_quality.of_controller(KEEPER, clock.now)

    assert (found.answers, found.typical, found.override_rate) == (0, None, None)


def test_what_was_longer_ago_does_not_count(clock: Clock, keeper: Resource, maya: User) -> None:
    decided(clock, keeper, maya, "approve", minutes(1))
    clock.now += decision_quality.LATELY + minutes(1)

    assert decision_quality.of_controller(KEEPER, clock.now).answers == 0


def test_a_person_sees_only_their_own_figures(
    clock: Clock, keeper: Resource, maya: User, tomas: User
) -> None:
    decided(clock, keeper, maya, "approve", minutes(1))
    for _ in range(2):
        decided(clock, keeper, tomas, "reject", minutes(5))

    own = good(as_user(maya).get("people/me/quality"), "Quality")

    assert (own["answers"], own["approved"], own["rejected"]) == (1, 1, 0)


def test_only_administrators_see_people_together_and_never_few(
    clock: Clock, keeper: Resource, maya: User, tomas: User
) -> None:
    olga = person(clock, "olga", "administrator")
    for who in (maya, tomas):
        decided(clock, keeper, who, "approve", minutes(1))
    problem(as_user(maya).get("people/quality"), 403, "forbidden")
    few = good(as_user(olga).get("people/quality"), "TogetherQuality")
    assert few == {"people": 2, "fewest": 3}

    decided(clock, keeper, person(clock, "nadia", "approver"), "reject", minutes(1))

    many = good(as_user(olga).get("people/quality"), "TogetherQuality")
    assert (many["people"], many["quality"]["answers"]) == (3, 3)
    assert "maya" not in str(many)


def test_everybody_who_sees_a_controller_reads_its_figures(
    clock: Clock, keeper: Resource, maya: User, vera: User
) -> None:
    decided(clock, keeper, maya, "approve", minutes(4))

    found = good(as_user(vera).get("controllers/keeper/quality"), "Quality")

    assert (found["answers"], found["typicalSeconds"]) == (1, 240.0)
    problem(as_user(vera).get("controllers/nobody/quality"), 404, "not-found")


def test_the_pages_show_the_controller_to_all_and_people_to_themselves(
    clock: Clock, keeper: Resource, maya: User, vera: User
) -> None:
    decided(clock, keeper, maya, "approve", minutes(4))
    pages = {}
    for who in (maya, vera):
        browser = Client()
        browser.force_login(who)
        for where in ("/profile", "/controllers/keeper"):
            pages[who.username, where] = browser.get(where).content.decode()

    assert "4 min typically" in pages["maya", "/profile"]
    assert "You have decided nothing lately." in pages["vera", "/profile"]
    assert "How everybody decides" not in pages["maya", "/profile"]
    assert "4 min typically" in pages["vera", "/controllers/keeper"]
