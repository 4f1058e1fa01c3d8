"""The demo as a visitor lives it: an agent drifts, a person decides, the agent comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

from controllers import budgets as accounting
from controllers.access import people
from controllers.budgets.budget_status import spoken, stands
from controllers.models import Price
from controllers.worker import example_organisation
from ioa_client import Failure
from ioa_site.demo import simulation
from ioa_site.demo.simulation import AgentConnection, Rush, Simulation
from resources.tables.models import AgentToken, Resource
from tests.conftest import Clock
from tests.journeys.product import Product, until
from tests.resources.making import live

AGENT = example_organisation.GUIDED[0]


class Visitor:
    """Somebody who decides, and what they see of the agent of the guided path."""

    def __init__(self, product: Product, link: str) -> None:
        self.client = product.sign_in(link)

    def read(self, path: str) -> Any:
        """Read something."""
        answer = self.client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def score(self) -> float:
        """Return how far the agent has drifted."""
        found = self.read(f"resources/agent/{AGENT}/drift")["items"]
        return sum(each["score"] or 0.0 for each in found)

    def proposals(self, state: str = "") -> list[dict[str, Any]]:
        """Return what is proposed about the agent."""
        query = f"&state={state}" if state else ""
        items: list[dict[str, Any]] = self.read(f"proposals?resource=agent/{AGENT}{query}")[
            "items"
        ]
        return items

    def guide(self) -> str:
        """Return the guided path as the first page shows it."""
        return self.client.get("/", headers={"Live-Parts": "guide"}).text

    def approve(self, proposal: int) -> httpx.Response:
        """Approve what was read."""
        read = self.client.get(f"/api/v1/proposals/{proposal}")
        headers = {
            "If-Match": read.headers["ETag"],
            "X-CSRFToken": self.client.cookies["csrftoken"],
        }
        return self.client.post(
            f"/api/v1/proposals/{proposal}/approve", json={"reason": ""}, headers=headers
        )


@pytest.mark.full
@pytest.mark.sqlite
def test_a_visitor_sees_drift_rise_decides_and_sees_it_fall(tmp_path: Path) -> None:
    with Product(tmp_path / "data", "--demo") as product:
        assert f"Open {product.base}/ and follow the guided path." in product.said()
        manager = next(link for link in product.links() if "/sign-in/2/" in link)
        visitor = Visitor(product, manager)
        assert visitor.score() == 0
        until(lambda: "its work piles up" in visitor.guide(), 15)
        until(lambda: visitor.score() > 0, 30)
        asked = until(lambda: visitor.proposals("waiting"), 30)
        worst = visitor.score()
        assert "a controller asks you" in visitor.guide()

        answer = visitor.approve(asked[0]["id"])
        assert answer.status_code == 200, answer.text
        until(lambda: visitor.proposals("succeeded"), 40)

        assert visitor.score() < worst
        assert visitor.read(f"resources/agent/{AGENT}")["spec"]["tokenBudget"]["throttled"]
        assert "is back on target" in visitor.guide()
        until(lambda: visitor.score() == 0, 20)
        assert [each["state"] for each in visitor.proposals()] == ["succeeded"]
        code = product.stop()

    assert code == 0
    assert "Traceback" not in product.said()


@pytest.mark.full
@pytest.mark.sqlite
def test_nobody_reports_where_no_demo_was_asked_for(tmp_path: Path) -> None:
    with Product(tmp_path / "data", "--demo") as product:
        product.stop()
    with Product(tmp_path / "data") as product:
        visitor = Visitor(product, product.links()[-1])
        time.sleep(1.5 * simulation.STEP_SECONDS)
        status = visitor.read(f"resources/agent/{AGENT}/status")

    assert "queueLength" not in status


@pytest.fixture
def organisation(transactional_db: None, clock: Clock) -> Clock:
    """Load the example without anything that runs."""
    example_organisation.load(clock.now)
    people.ensure_administrator(clock.now)
    return clock


@pytest.mark.usefixtures("organisation")
def test_a_product_that_does_not_answer_costs_nothing_but_the_step() -> None:
    agents = Simulation("http://127.0.0.1:9")

    for _ in range(3):
        agents.step()

    assert agents.steps == 3


@pytest.mark.usefixtures("organisation")
def test_what_an_earlier_simulation_was_issued_is_worth_nothing() -> None:
    simulation.issued(AGENT)
    simulation.issued(AGENT)

    simulation.retire_tokens()

    assert AgentToken.objects.count() == 2
    assert not AgentToken.objects.filter(revoked_at=None).exists()


@pytest.mark.usefixtures("organisation")
def test_an_agent_that_is_gone_is_left_alone() -> None:
    agents = Simulation("http://127.0.0.1:9")
    agents.queue[0].line.name = "nobody"

    agents.step()

    assert not AgentToken.objects.filter(agent__name="nobody").exists()


class Told(AgentConnection):
    """A line that keeps what is reported, and reads it back."""

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__("", AGENT)
        allowed = {"avgLatency": 20, "errorRate": 0.02}
        objectives = [{"name": name, "value": value} for name, value in allowed.items()]
        self.spec: dict[str, Any] = {"objectives": objectives, **spec}
        self.status: dict[str, Any] = {}

    def read(self) -> dict[str, Any]:
        """Return the agent as it is."""
        return {"spec": self.spec, "status": self.status}

    def report(self, status: Any) -> None:
        """Keep what is said."""
        self.status = dict(status)


def piles(rush: Rush, line: Told, steps: int) -> list[int]:
    """Let an agent live and return how its work piled up."""
    found = []
    for _ in range(steps):
        rush.live(may_begin=True)
        found.append(line.status["queueLength"])
    return found


def test_a_rush_rises_step_by_step_and_waits_for_an_answer() -> None:
    line = Told({})

    assert piles(Rush(line), line, 5) == [40, 110, 240, 240, 240]


def test_a_lower_allowance_ends_a_rush_also_after_a_new_start() -> None:
    line = Told({})
    piles(Rush(line), line, 3)
    line.spec["tokenBudget"] = {"throttled": {"full": 100, "factor": 0.62}}

    assert piles(Rush(line), line, 4) == [110, 40, 0, 0]


def test_a_rush_that_nobody_answers_ends_by_itself() -> None:
    line = Told({})

    found = piles(Rush(line), line, simulation.PATIENCE + 10)

    assert found[-1] == 0


def test_an_agent_that_is_told_to_pause_says_so_and_spends_nothing() -> None:
    line = Told({"state": "paused"})

    Rush(line).live(may_begin=True)

    assert line.status["state"] == "paused"
    assert line.bill.tasks == 0


def test_what_is_spent_comes_from_the_tasks_that_were_done() -> None:
    line = Told({"model": {"provider": "meridian", "name": "meridian-swift"}})
    piles(Rush(line), line, 3)
    rising = line.bill.tasks
    line.spec["tokenBudget"] = {"throttled": {"full": 100, "factor": 0.62}}

    piles(Rush(line), line, 3)

    # One in each step, and what no longer waits.
    assert (rising, line.bill.tasks) == (3, 6 + 240)
    record = line.bill.record()
    assert record["tokens"] == {"input": 246 * 110, "output": 246 * 20}
    assert record["model"] == {"provider": "meridian", "name": "meridian-swift"}


class Unsure(AgentConnection):
    """A line whose first answer is lost."""

    def __init__(self, *lost: bool) -> None:
        super().__init__("", AGENT)
        self.lost, self.sent = list(lost), [[""]]

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Lend what keeps all that is sent."""

        def report(items: list[dict[str, Any]]) -> None:
            self.sent.append([each["id"] for each in items])
            if self.lost and self.lost.pop(0):
                raise Failure("Nobody answers.")

        yield SimpleNamespace(usage=SimpleNamespace(report=report))


def test_a_bill_whose_answer_is_lost_is_sent_again_under_its_name() -> None:
    line = Unsure(True)
    line.spend({"spec": {}}, 2)
    with pytest.raises(Failure):
        line.settle()
    line.spend({"spec": {}}, 3)
    line.settle()
    line.settle()

    first, again = line.sent[1:]
    assert again[0] == first[0]
    assert len(again) == 2


@pytest.mark.usefixtures("organisation")
def test_the_example_begins_with_what_its_budgets_tell(clock: Clock) -> None:
    before = {each.name: each.status for each in budgets()}

    assert accounting.renew(clock.now) == 0

    for stand in stands(budgets(), clock.now):
        told = before[stand.budget.name]
        assert spoken(stand.amounts, "EUR") == told["consumed"]
        assert round(stand.share or 0, 4) == told["utilizationRate"]
    assert Price.objects.count() == len(example_organisation.PRICES)


@pytest.mark.usefixtures("organisation")
def test_a_day_of_the_demo_spends_less_than_anybody_may() -> None:
    """Nobody answers: the three are in a rush in turn, all day long."""
    per_day = 24 * 3600 / simulation.STEP_SECONDS
    rushes = per_day / (simulation.PATIENCE + simulation.REST)
    most = (per_day + rushes * simulation.WORST[0]) * sum(simulation.TASK_TOKENS.values())

    for name in (*example_organisation.GUIDED, *example_organisation.STEADY):
        allowed = live("Agent", name).spec["tokenBudget"]
        assert (
            most / 3 < allowed["alertAt"] * allowed["maxDaily"]
            or name in example_organisation.STEADY
        ), name
        assert per_day / 3 * 130 < allowed["alertAt"] * allowed["maxDaily"], name


def budgets() -> list[Resource]:
    return list(Resource.objects.filter(kind="Budget").order_by("pk"))


@pytest.mark.usefixtures("organisation")
def test_no_rush_begins_before_somebody_came(clock: Clock) -> None:
    assert not simulation.somebody_came()

    User.objects.filter(username="admin").update(last_login=clock.now)

    assert simulation.somebody_came()
