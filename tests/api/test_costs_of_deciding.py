"""How many statements the endpoints about decisions run; never more for more rows."""

from __future__ import annotations

import pytest

from controllers.decisions import holds
from controllers.decisions.holds import Shadowed
from controllers.models import Decision, Proposal
from tests.api.conftest import Api, queries
from tests.api.deciding import FILING, as_person, say
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, person, proposal
from tests.resources.making import live

pytestmark = pytest.mark.django_db


@pytest.fixture
def maya(today: Clock, db: None) -> Api:
    return as_person(today, "maya", "approver")


@pytest.fixture
def ines(today: Clock, db: None) -> Api:
    return as_person(today, "ines", "operator")


READS = [
    "proposals",
    "proposals?mine=true",
    "proposals?state=waiting&resource=agent/a0&controller=keeper",
    "proposals/causes",
    "proposals/{id}",
]


@pytest.fixture(params=[4, 40])
def many(request: pytest.FixtureRequest, today: Clock) -> Proposal:
    """So many agents with a proposal each, and so many approvers who voted for the first."""
    count: int = request.param
    keeper = controller(today)
    rows = [
        proposal(
            today,
            agent(today, f"a{n}", domain=f"d{n % 3}"),
            keeper if n % 2 else None,
            risk="low" if n % 3 else "high",
            cause=f"{n:064}",
            actions=[action(f"a{n}")],
        )
        for n in range(count)
    ]
    for number in range(count):
        who, other = person(today, f"p{number}", "approver"), person(today, f"q{number}", "viewer")
        for answer, each in (("approve", who), ("change", other)):
            Decision.objects.create(
                proposal=rows[0],
                revision=1,
                person=each,
                behalf=who if each is other else None,
                actor=f"person/{each.username}",
                answer=answer,
                shown="x",
                at=today.now,
            )
    return rows[0]


@pytest.mark.parametrize("address", READS)
def test_reading_costs_the_same_for_4_and_40(maya: Api, many: Proposal, address: str) -> None:
    path, _, query = address.format(id=many.pk).partition("?")
    maya.get("proposals")

    with queries(f"GET {address}"):
        answer = maya.get(path, query)

    assert answer.status_code == 200


def test_an_agent_reads_for_the_same_price(robin: Api, many: Proposal) -> None:
    robin.get("proposals")

    with queries("GET proposals by an agent"):
        robin.get("proposals")


def test_filing_costs_the_same_for_4_and_40(ines: Api, many: Proposal) -> None:
    with queries("POST proposals"):
        answer = ines.post("proposals", FILING | {"resource": "agent/a1"})

    assert answer.status_code == 201


def test_deciding_costs_the_same_for_4_and_40(maya: Api, many: Proposal) -> None:
    with queries("POST proposals/{id}/reject"):
        answer = say(maya, many, "reject")

    assert answer.status_code == 200


@pytest.fixture
def held(many: Proposal, today: Clock, ines: Api) -> int:
    """As many holds as proposals, and under the last as many plans that it keeps back."""
    rows = Proposal.objects.order_by("pk")
    for each in rows:
        pause = {"kind": "pause", "scope": "resource", "resource": str(each.resource)}
        assert ines.post("holds", pause | {"reason": "Wait."}).status_code == 201
    stop = {"kind": "stop", "scope": "organisation", "reason": "Wait."}
    key: int = ines.post("holds", stop).json()["hold"]["id"]
    keeper = live("Controller", "keeper").pk
    plans = [Shadowed(key, keeper, each.resource_id, "d" * 64, each.actions) for each in rows]
    holds.shadow(plans, today.now)
    return key


def test_reading_holds_costs_the_same_for_4_and_40(maya: Api, held: int) -> None:
    maya.get("holds")

    with queries("GET holds"):
        assert len(maya.get("holds", "limit=200").json()["items"]) > 4
    with queries("GET holds/{id}"):
        preview = maya.get(f"holds/{held}").json()["preview"]

    assert len(preview["proposals"]) == len(preview["shadows"]) >= 4


def test_placing_and_lifting_costs_the_same_for_4_and_40(maya: Api, held: int) -> None:
    stop = {"kind": "stop", "scope": "organisation", "reason": "Wait."}
    with queries("POST holds"):
        placed = maya.post("holds", stop)
    with queries("POST holds/{id}/lift"):
        lifted = maya.post(f"holds/{held}/lift", {"reason": "It is over."})

    assert [placed.status_code, lifted.status_code] == [201, 200]


def test_placing_under_a_name_costs_the_same_for_4_and_40(maya: Api, held: int) -> None:
    stop = {"kind": "stop", "scope": "organisation", "reason": "Wait."}
    with queries("POST holds, named"):
        placed = maya.post("holds", stop, idempotency_key="stop-1")
    with queries("POST holds, repeated"):
        again = maya.post("holds", stop, idempotency_key="stop-1")

    assert [placed.status_code, again.status_code] == [201, 201]
    assert again.json() == placed.json()
