"""People's attention is a budget: small questions wait their turn, and none is lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions.creation.attention_budget import NewQuestion, spread
from controllers.models import Proposal
from controllers.worker import housekeeping
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.controllers.making import work
from tests.decisions.carrying import consume, keeper, overspending
from tests.decisions.making import agent, proposal
from tests.resources.making import apply, made

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
# More than an agent may in a day, and nothing that presses.
A_LITTLE, MORE = 1_200_000, 1_300_000


def governed(clock: Clock, **attention: int) -> None:
    """Declare how many questions an approver is asked in growth."""
    spec = {"domain": "growth", "humanOverride": {"attention": attention}}
    assert apply(clock.now, made("Domain", "growth"), made("Governance", "rules", spec)).written


def asked(clock: Clock, number: int, **spec: Any) -> list[Proposal]:
    """Let as many agents spend too much, and their keeper ask about each."""
    for place in range(number):
        overspending(clock, f"agent-{place}")
        consume(clock, f"agent-{place}", A_LITTLE)
    keeper(clock, **spec)
    work(clock)
    return list(Proposal.objects.order_by("pk"))


def shown(clock: Clock) -> int:
    """Count the questions that people see now."""
    rows = Proposal.objects.filter(state="pending")
    return rows.exclude(quiet_until__gt=clock.now).count()


def test_without_a_budget_everything_is_asked_at_once(clock: Clock, maya: User) -> None:
    found = asked(clock, 5)

    assert {each.delayed for each in found} == {False}
    assert shown(clock) == 5


def test_beyond_the_budget_small_questions_wait_and_none_is_dropped(
    clock: Clock, maya: User
) -> None:
    governed(clock, perHour=2)

    found = asked(clock, 5)

    assert (len(found), shown(clock)) == (5, 2)
    waiting = [each for each in found if each.delayed]
    ends = [each.quiet_until for each in waiting if each.quiet_until]
    assert ends == [clock.now + HOUR, clock.now + HOUR, clock.now + 2 * HOUR]
    assert all(each.expires_at > end for each, end in zip(waiting, ends, strict=True))
    assert "a budget of 2 questions each in an hour" in waiting[0].policy["attention"]


def test_what_waits_comes_back_as_many_at_a_time_as_people_are_there_for(
    clock: Clock, maya: User
) -> None:
    governed(clock, perHour=2)
    asked(clock, 5)
    seen = []

    for _ in range(2):
        clock.now += HOUR
        housekeeping.run_due(clock.now)
        seen.append(shown(clock))

    assert seen == [4, 5]


def test_every_approver_adds_to_the_budget(clock: Clock, maya: User, tomas: User) -> None:
    governed(clock, perDay=2)
    asked(clock, 5)

    assert shown(clock) == 4


def test_who_comes_while_others_wait_waits_behind_them(clock: Clock, maya: User) -> None:
    governed(clock, perHour=1)
    asked(clock, 2)
    clock.now += timedelta(minutes=59)
    overspending(clock, "late")
    consume(clock, "late", A_LITTLE)
    work(clock)

    late = Proposal.objects.latest("pk")

    assert late.delayed
    assert late.quiet_until is not None
    assert late.quiet_until > clock.now + HOUR - timedelta(minutes=1)


def test_what_presses_is_asked_at_once(clock: Clock, maya: User) -> None:
    governed(clock, perHour=1)
    asked(clock, 2)
    for name in ("loud", "louder"):
        overspending(clock, name)

    work(clock)

    urgent = Proposal.objects.exclude(urgency__in=("low", "medium"))
    assert [each.delayed for each in urgent] == [False, False]


@pytest.mark.parametrize("risk", ["medium", "high"])
def test_more_than_a_small_risk_never_waits(clock: Clock, maya: User, risk: str) -> None:
    governed(clock, perHour=1)
    row = proposal(clock, agent(clock), keeper(clock), risk=risk, urgency="low")
    other = proposal(clock, agent(clock, "other"), risk="low", urgency="low")
    third = proposal(clock, agent(clock, "third"), risk="low", urgency="low")

    spread([NewQuestion(each, None, "growth") for each in (row, other, third)], clock.now)

    assert [each.delayed for each in (row, other, third)] == [False, True, True]


def test_what_waits_and_gets_worse_is_asked_at_once(clock: Clock, maya: User) -> None:
    governed(clock, perHour=1)
    waiting = asked(clock, 2)[1]
    consume(clock, waiting.resource.name, MORE)
    clock.now += timedelta(minutes=6)

    work(clock)

    waiting.refresh_from_db()
    assert (waiting.state, shown(clock)) == ("superseded", 2)


def test_another_plan_keeps_the_place_of_the_one_before(clock: Clock, maya: User) -> None:
    governed(clock, perHour=1)
    seen, waiting = asked(clock, 2)
    instead = [proposal(clock, agent(clock, name), urgency="low") for name in ("one", "two")]

    pairs = zip(instead, (seen, waiting), strict=True)
    spread([NewQuestion(new, old, "growth") for new, old in pairs], clock.now)

    assert [each.delayed for each in instead] == [False, True]
    assert instead[1].quiet_until == waiting.quiet_until
    assert instead[1].policy["attention"] == waiting.policy["attention"]


def test_it_is_told_and_shown_why_a_question_waits(clock: Clock, maya: User) -> None:
    governed(clock, perHour=1)
    waiting = asked(clock, 2)[1]
    browser = Client()
    browser.force_login(maya)

    event = LedgerEvent.objects.get(stream=waiting.stream, event="proposal.created")
    page = browser.get(f"/approvals/{waiting.pk}").content.decode()

    assert event.payload["attention"] == waiting.policy["attention"]
    assert "It waits its turn" in page
    assert "a budget of 1 questions each in an hour" in page
