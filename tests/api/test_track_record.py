"""How well what somebody proposes turns out, over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import answers, holds
from controllers.models import Proposal
from controllers.trust import track_record
from resources.tables.ledger import instant
from resources.tables.models import Resource
from tests.api.conftest import Api
from tests.api.deciding import as_user, good, problem
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, person, proposal, seen

pytestmark = pytest.mark.django_db

WHY = "Because it is so."


@pytest.fixture
def maya(today: Clock, db: None) -> User:
    return person(today, "maya", "approver")


@pytest.fixture
def keeper(today: Clock) -> Resource:
    return controller(today)


def proposed(clock: Clock, owner: Resource | None, number: int, **given: Any) -> Proposal:
    """Make one of several proposals, each about an agent of its own."""
    name = f"agent-{number}"
    return proposal(clock, agent(clock, name), owner, actions=[action(name)], **given)


def told(clock: Clock, row: Proposal, verb: str, who: User, **given: Any) -> Proposal:
    """Give an answer through its use case."""
    answer: Proposal = getattr(answers, verb)(
        row.pk, person=who, seen=seen(row), now=clock.now, reason=WHY, **given
    )
    return answer


def record(who: Api, of: str = "controllers/keeper", query: str = "") -> Any:
    return good(who.get(f"{of}/record", query), "TrackRecord")


def test_overrides_of_an_agent_are_counted(today: Clock, maya: User) -> None:
    """I-98 Four were decided, one of them otherwise than the agent wanted."""
    agent(today, "robin")
    made = [proposed(today, None, number) for number in range(5)]
    for row, verb in zip(made, ("approve", "approve", "reject", "override"), strict=False):
        told(today, row, verb, maya)

    found = record(as_user(maya), "agents/robin")

    assert found["proposer"] == "agent/robin"
    assert found["overrideRate"] == 0.25
    assert found["states"] == {"approved": 2, "rejected": 1, "overridden": 1, "pending": 1}
    assert (found["proposals"], found["decided"]) == (5, 4)
    assert (found["approved"], found["rejected"], found["overridden"]) == (2, 1, 1)


def test_an_override_counts_for_everything_it_answers(
    today: Clock, maya: User, keeper: Resource
) -> None:
    """I-98 A person who holds a resource overrides what its controller proposed for it."""
    row = proposed(today, keeper, 1)
    wanted = holds.HoldRequest("override", "resource", WHY, resource=row.resource_id)
    holds.place(wanted, person=maya, now=today.now)

    found = record(as_user(maya))

    assert (found["overridden"], found["overrideRate"]) == (1, 1.0)


def test_what_helped_is_shown_per_controller(today: Clock, maya: User, keeper: Resource) -> None:
    words = ("effective", "effective", "ineffective", "worse", "")
    for number, word in enumerate(words):
        state = "succeeded" if word == "effective" else "failed"
        proposed(today, keeper, number, state=state, answer="approve", outcome=word)
    other = controller(today, "other")
    proposed(today, other, 9, state="succeeded", answer="approve", outcome="effective")

    found = record(as_user(maya))

    assert found["outcomes"] == {"effective": 2, "ineffective": 1, "worse": 1}
    assert (found["proposals"], found["decided"], found["overrideRate"]) == (5, 5, 0.0)


def test_people_and_the_policy_are_told_apart(today: Clock, maya: User, keeper: Resource) -> None:
    proposed(today, keeper, 1, state="approved", answer="approve", lane="run")
    told(today, proposed(today, keeper, 2), "approve", maya)

    found = record(as_user(maya))

    assert (found["approved"], found["byPolicy"]) == (2, 1)


def test_what_people_edited_is_counted_and_what_only_waits_is_not_decided(
    today: Clock, maya: User, keeper: Resource
) -> None:
    told(today, proposed(today, keeper, 1), "change", maya, edits={1: {"factor": 0.25}})
    told(today, proposed(today, keeper, 2), "request_changes", maya)
    told(today, proposed(today, keeper, 3), "withdraw", person(today, "ines", "operator"))

    found = record(as_user(maya))

    assert (found["changed"], found["decided"]) == (1, 0)
    assert "overrideRate" not in found


def test_what_was_undone_was_approved(today: Clock, maya: User, keeper: Resource) -> None:
    row = proposed(
        today,
        keeper,
        1,
        state="succeeded",
        answer="approve",
        undo_until=today.now + timedelta(hours=1),
    )
    told(today, row, "undo", maya)

    assert record(as_user(maya))["approved"] == 1


def test_only_the_last_ninety_days_count_unless_told_otherwise(
    today: Clock, maya: User, keeper: Resource
) -> None:
    days = timedelta(days=1)
    proposed(today, keeper, 1, changed_at=today.now - 91 * days)
    proposed(today, keeper, 2, changed_at=today.now - 89 * days)
    who = as_user(maya)

    assert record(who)["proposals"] == 1
    since = today.now - 100 * days
    longer = record(who, query=f"since={instant(since)}")
    assert (longer["proposals"], longer["since"]) == (2, instant(since))


def test_nobody_decided_anything_yet(today: Clock, maya: User, keeper: Resource) -> None:
    found = record(as_user(maya))

    assert (found["proposals"], found["states"]) == (0, {})
    assert "overrideRate" not in found


def test_a_record_is_one_question(
    today: Clock, keeper: Resource, django_assert_num_queries: Any
) -> None:
    for number in range(4):
        proposed(today, keeper, number, state="pending" if number % 2 else "rejected")

    with django_assert_num_queries(1):
        found = track_record.of("controller/keeper", today.now)

    assert found.states == {"pending": 2, "rejected": 2}


def test_what_is_asked_wrongly_is_refused_in_words(
    today: Clock, maya: User, keeper: Resource
) -> None:
    who = as_user(maya)

    problem(who.get("controllers/keeper/record", "since=yesterday"), 400, "invalid")
    problem(who.get("controllers/keeper/record", "until=now"), 400, "invalid")
    problem(who.get("controllers/nobody/record"), 404, "not-found")
    problem(who.get("agents/keeper/record"), 404, "not-found")


def test_an_agent_reads_its_own_record_and_nobody_elses(robin: Api, today: Clock) -> None:
    agent(today, "stranger", domain="elsewhere")

    assert record(robin, "agents/robin")["proposals"] == 0
    problem(robin.get("agents/stranger/record"), 404, "not-found")


def test_nobody_reads_a_record_without_signing_in(stranger: Api, keeper: Resource) -> None:
    assert stranger.get("controllers/keeper/record").status_code == 401
