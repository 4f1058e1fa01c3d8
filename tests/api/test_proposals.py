"""What is proposed, over HTTP: records, lists, and what waits for whom."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import roles
from controllers.models import Decision, Delegation, Grant, Proposal
from resources.documents.problems import Problem
from resources.tables.models import Resource
from tests.api.conftest import Api, issue
from tests.api.deciding import as_person, as_user, good, problem, say
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal

pytestmark = pytest.mark.django_db


@pytest.fixture
def scribe(today: Clock) -> Resource:
    return agent(today)


@pytest.fixture
def keeper(today: Clock) -> Resource:
    return controller(today)


@pytest.fixture
def pending(today: Clock, scribe: Resource, keeper: Resource) -> Proposal:
    return proposal(today, scribe, keeper, score=0.4)


@pytest.fixture
def maya(today: Clock, db: None) -> Api:
    return as_person(today, "maya", "approver")


@pytest.fixture
def ines(today: Clock, db: None) -> Api:
    return as_person(today, "ines", "operator")


def listed(who: Api, query: str = "") -> list[int]:
    found = good(who.get("proposals", query), "ProposalList")
    return [each["id"] for each in found["items"]]


# Reading.


def test_a_record_tells_everything_a_person_decides_by(
    maya: Api, today: Clock, pending: Proposal
) -> None:
    person(today, "tomas", "approver")
    answer = maya.get(f"proposals/{pending.pk}")

    found = good(answer, "Proposal")
    assert answer["ETag"] == f'"{pending.tag}"' == f'"{found["tag"]}"'
    assert (found["resource"], found["proposer"]) == ("agent/scribe", "controller/keeper")
    assert (found["state"], found["risk"], found["people"], found["score"]) == (
        "pending",
        "low",
        1,
        0.4,
    )
    assert found["actions"] == pending.actions
    assert (found["decisions"], found["steps"]) == ([], [])
    assert found["deciders"] == ["maya", "tomas"]
    assert found["you"] == {"mayDecide": True}
    assert {"approve", "reject", "change"} <= set(found["allowed"])
    assert "undo" not in found["allowed"]


def test_a_record_names_the_rule_by_which_you_may_not(ines: Api, pending: Proposal) -> None:
    found = good(ines.get(f"proposals/{pending.pk}"), "Proposal")

    assert found["you"]["mayDecide"] is False
    assert found["you"]["code"] == "NotApprover"
    assert found["you"]["reason"] == "Only an approver of growth decides this."


def test_a_record_says_what_changed_since_you_looked(maya: Api, pending: Proposal) -> None:
    say(maya, pending, "change", actions=[{"sequence": 1, "parameters": {"factor": 0.3}}])
    pending.refresh_from_db()
    say(maya, pending, "change", actions=[{"sequence": 1, "parameters": {"factor": 0.2}}])

    found = good(maya.get(f"proposals/{pending.pk}", "since=2"), "Proposal")

    assert found["revision"] == 3
    assert [(each["before"], each["after"]) for each in found["changes"]] == [(0.3, 0.2)]


def test_a_copy_at_hand_is_never_taken_for_the_present_state(maya: Api, pending: Proposal) -> None:
    """A decision moves the state and not the tag."""
    seen = {"If_None_Match": f'"{pending.tag}"'}
    say(maya, pending, "reject")

    assert maya.get(f"proposals/{pending.pk}", **seen).json()["state"] == "rejected"


def test_what_the_clock_ended_can_only_be_proposed_again(
    maya: Api, today: Clock, pending: Proposal
) -> None:
    """Nobody has to sweep first."""
    Proposal.objects.update(expires_at=today.now - timedelta(seconds=1))

    found = good(maya.get(f"proposals/{pending.pk}"), "Proposal")

    assert (found["allowed"], found["deciders"]) == (["repropose"], [])


@pytest.mark.parametrize("key", ["0", "999", "x", "-1", "1e3", "9" * 19, "\u0661", "%00"])
def test_there_is_no_such_proposal(maya: Api, pending: Proposal, key: str) -> None:
    problem(maya.get(f"proposals/{key}"), 404, "not-found")
    problem(maya.post(f"proposals/{key}/approve", {}, if_match=pending.tag), 404, "not-found")


def test_nobody_reads_without_signing_in(stranger: Api, pending: Proposal) -> None:
    for path in ("proposals", f"proposals/{pending.pk}", "proposals/causes"):
        problem(stranger.get(path), 401, "not-signed-in")


# Lists.


@pytest.fixture
def several(today: Clock, keeper: Resource) -> list[Proposal]:
    """One of each: pending, recommended, approved, rejected; the newest last."""
    states = ("pending", "recommended", "approved", "rejected")
    return [
        proposal(today, agent(today, f"a{n}"), keeper, state=state, cause=f"{n % 2}" * 64)
        for n, state in enumerate(states)
    ]


def test_a_list_begins_with_the_newest(maya: Api, several: list[Proposal]) -> None:
    assert listed(maya) == [each.pk for each in reversed(several)]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("state=pending", [0]),
        ("state=waiting", [1, 0]),
        ("state=open", [2, 1, 0]),
        ("state=rejected", [3]),
        ("state=succeeded", []),
        ("resource=agent/a2", [2]),
        ("controller=keeper", [3, 2, 1, 0]),
        ("controller=controller/keeper", [3, 2, 1, 0]),
        (f"cause={'1' * 64}", [3, 1]),
        (f"cause={'1' * 64}&state=open", [1]),
        ("mine=true", [1, 0]),
        ("mine=true&resource=agent/a1", [1]),
        ("mine=false", [3, 2, 1, 0]),
    ],
)
def test_a_list_is_narrowed(
    maya: Api, several: list[Proposal], query: str, kept: list[int]
) -> None:
    assert listed(maya, query) == [several[each].pk for each in kept]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("state=Pending", 400),
        ("mine=perhaps", 400),
        ("limit=0", 400),
        ("cursor=x", 400),
        ("resource=scribe", 400),
        ("resource=thing/scribe", 400),
        ("since=1", 400),
        ("resource=agent/nobody", 404),
        ("controller=nobody", 404),
    ],
)
def test_a_bad_filter_is_refused(maya: Api, query: str, status: int) -> None:
    assert maya.get("proposals", query).status_code == status


def test_pages_join(maya: Api, several: list[Proposal]) -> None:
    first = maya.get("proposals", "limit=3").json()
    rest = listed(maya, f"limit=3&cursor={first['nextCursor']}")

    assert [each["id"] for each in first["items"]] + rest == listed(maya)
    assert maya.get("proposals", f"mine=true&cursor={first['nextCursor']}").status_code == 400


def test_an_agent_reads_what_is_about_its_domain_and_itself(robin: Api, today: Clock) -> None:
    """I17: for it there is nothing else."""
    mine = proposal(today, agent(today, "scribe", domain="growth"))
    other = proposal(today, agent(today, "clerk", domain="finance"))

    assert listed(robin) == [mine.pk]
    assert "you" not in good(robin.get(f"proposals/{mine.pk}"), "Proposal")
    assert listed(robin, "mine=true") == [mine.pk]
    assert listed(robin, "mine=true&state=changes_requested") == []
    problem(robin.get(f"proposals/{other.pk}"), 404, "not-found")
    problem(robin.get("proposals", "resource=agent/clerk"), 404, "not-found")


def test_a_token_needs_the_scope_to_read(organisation: None, pending: Proposal) -> None:
    writer = Api(Client(), issue("robin", "proposals:write"))

    for path in ("proposals", f"proposals/{pending.pk}", "proposals/causes"):
        assert problem(writer.get(path), 403, "forbidden")["detail"].endswith("resources:read.")


# What waits for me.


def test_mine_is_exactly_what_the_record_says_i_may_decide(today: Clock, keeper: Resource) -> None:
    """Domains, ceilings, interests and deputies: the list knows the same rules as the record."""
    people = {
        "maya": person(today, "maya", "approver"),
        "tomas": person(today, "tomas", "approver", domain="growth", ceiling="low"),
        "lena": person(today, "lena", "approver", domain="finance"),
        "ines": person(today, "ines", "operator"),
        "omar": person(today, "omar", "viewer"),
    }
    hour = timedelta(hours=1)
    Delegation.objects.create(
        person=people["lena"],
        deputy=people["ines"],
        starts_at=today.now - hour,
        ends_at=today.now + hour,
        created_at=today.now,
    )
    Grant.objects.create(
        person=people["omar"],
        role="approver",
        granted_by="x",
        granted_at=today.now - hour,
        ends_at=today.now - timedelta(minutes=1),
    )
    for number, (domain, risk, more) in enumerate(
        (domain, risk, more)
        for domain in ("growth", "finance")
        for risk in ("low", "high")
        for more in (
            {},
            {"proposer": "person/maya"},
            {"interested": ["lena", "tomas"]},
            {"proposer": "person/ines"},
            {"quiet_until": today.now + hour},
            {"expires_at": today.now - hour},
            {"state": "approved"},
        )
    ):
        row = proposal(today, agent(today, f"a{number}", domain=domain), keeper, risk=risk, **more)
    Decision.objects.create(
        proposal=row,
        revision=1,
        person=people["maya"],
        actor="person/maya",
        answer="change",
        shown="x",
        at=today.now,
    )
    waits = Proposal.objects.filter(state="pending", expires_at__gt=today.now, quiet_until=None)

    for name, user in people.items():
        expected = [each.pk for each in waits.order_by("-pk") if able(user, each, today)]
        assert listed(as_user(user), "mine=true") == expected, name
        assert bool(expected) == (name != "omar")


def able(user: User, row: Proposal, today: Clock) -> bool:
    try:
        return bool(roles.authority(user, row, today.now))
    except Problem:
        return False


def test_a_page_of_mine_is_full_although_others_are_in_between(
    maya: Api, today: Clock, scribe: Resource
) -> None:
    """Whoever has a part in something does not see fewer of the rest."""
    for number in range(12):
        target = agent(today, f"a{number}")
        proposal(today, target, proposer="person/maya" if number % 3 else "person/ines")

    first = maya.get("proposals", "mine=true&limit=3").json()
    second = maya.get("proposals", f"mine=true&limit=3&cursor={first['nextCursor']}").json()

    assert [each["resource"] for each in first["items"]] == ["agent/a9", "agent/a6", "agent/a3"]
    assert [each["resource"] for each in second["items"]] == ["agent/a0"]
    assert "nextCursor" not in second


# Root causes.


def test_causes_group_what_waits(maya: Api, robin: Api, today: Clock) -> None:
    cause = "c" * 64
    for number, risk in enumerate(("low", "low", "high")):
        target = agent(today, f"a{number}", domain="finance" if number else "growth")
        proposal(today, target, cause=cause, risk=risk, score=number / 10)

    [found] = good(maya.get("proposals/causes"), "CauseList")["items"]
    assert (found["cause"], found["count"], found["together"]) == (cause, 3, 2)
    assert (found["worst"], found["sample"]["resource"]) == (0.2, "agent/a0")
    [seen] = good(robin.get("proposals/causes"), "CauseList")["items"]
    assert seen["count"] == 1
