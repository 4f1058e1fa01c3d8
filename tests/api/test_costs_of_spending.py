"""How many statements admission, usage and economics run; never more for more rows."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.api.conftest import Api, apply, issue, queries
from tests.api.spending import agent, ask, asked, budget, data, policy, redeem, spend

pytestmark = pytest.mark.django_db(transaction=True)

SCOPE = {"resource": "ledger", "classification": "internal", "allowedAgents": ["robin"]}


@pytest.fixture(params=[1, 20])
def robin(request: pytest.FixtureRequest, organisation: None) -> Api:
    """An agent in an organisation with few or many neighbours, which have spent before."""
    apply(
        agent("robin", tokenBudget={"maxDaily": 10**6}),
        data("growth", "ledger"),
        budget(limits={"tokens": {"daily": 10**6, "monthly": 10**6}}),
        policy(dataScopes=[SCOPE]),
    )
    apply(*(agent(f"a{number}") for number in range(request.param)))
    for number in range(request.param):
        spend(Api(Client(), issue(f"a{number}")), decision=f"dec-{number}", workflow="w")
    api = Api(Client(), issue("robin"))
    redeem(api, asked(api))
    spend(api)
    return api


def test_asking_and_redeeming_cost_the_same_however_large_the_organisation(robin: Api) -> None:
    with queries("POST admission"):
        found = asked(robin)
    with queries("POST admission/{id}/redeem"):
        assert redeem(robin, found).status_code == 200
    with queries("POST admission denied"):
        ask(robin, operation="delete", resource="asset/ledger", tokens={"input": 10**8})


def test_reporting_one_and_many_costs_the_same(robin: Api) -> None:
    # SQLite takes no more values in one statement than some forty records have.
    for count in (5, 40):
        items = [{"tokens": {"input": 1}} for _ in range(count)]
        with queries("POST usage"):
            assert robin.post("usage", {"items": items}).status_code == 200


def test_reading_costs_the_same_for_few_and_many(robin: Api, bob: Api) -> None:
    bob.get("economics")
    for address in ("economics", "usage", "admission"):
        with queries(f"GET {address}"):
            assert bob.get(address).status_code == 200
