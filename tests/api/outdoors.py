"""A controller of agents that runs outside, and short ways to be its process."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.utils import timezone

from controllers.models import Runtime
from resources.tables.models import Condition
from tests.api.conftest import Answer, Api, issue
from tests.api.deciding import good
from tests.conftest import Clock
from tests.controllers.making import declare
from tests.decisions.making import agent
from tests.resources.making import live, made

KEEPER = "keeper"
OWN = "KeeperConverged"
RECONCILING = {"onDrift": [{"type": "reconcile", "strategy": "immediate"}]}
RESTART = {"operation": "restart", "why": "It does not answer."}
UNWELL = {
    "subject": "condition/Ready",
    "verdict": "missed",
    "desired": "True",
    "observed": "False",
}
SCOPES = ("resources:read", "cycles:write", "actions:write")


def keeper(clock: Clock, name: str = KEEPER, **spec: Any) -> None:
    """Declare a controller of agents that others run, and that may act alone."""
    usual = {
        "targetKind": "Agent",
        "reconcileInterval": "5m",
        "runner": "external",
        "enforcementMode": "enforce",
        "approval": "auto",
        "actions": RECONCILING,
    }
    declare(clock, made("Controller", name, usual | spec))


def bad(name: str = "scribe", **more: Any) -> dict[str, Any]:
    """Find an agent unwell, and plan to restart it."""
    health = {"score": 0.8, "of": 2, "evidence": [UNWELL]}
    said = {"reason": "Unresponsive", "message": "It does not answer."}
    found = {"dimensions": {"health": health}, "condition": said, "actions": [RESTART]}
    return {"resource": f"agent/{name}"} | found | more


def well(name: str = "scribe", **more: Any) -> dict[str, Any]:
    """Find an agent well."""
    return {"resource": f"agent/{name}", "dimensions": {"health": {"score": 0, "of": 2}}} | more


class Process:
    """A process that runs a controller, with a token of its own."""

    def __init__(self, name: str = KEEPER) -> None:
        self.name = name
        self.api = Api(Client(), issue(f"controller/{name}", *SCOPES))
        self.number, self.fence = 0, ""

    @property
    def cycle(self) -> str:
        """The address of its cycle."""
        return f"controllers/{self.name}/cycles/{self.number}"

    def open(self, **body: Any) -> Answer:
        """Open a cycle, and remember its number and its fence."""
        answer = self.api.post(f"controllers/{self.name}/cycles", body)
        if answer.status_code == 201:
            self.number = answer.json()["cycle"]["number"]
            self.fence = answer.json()["fence"]
        return answer

    def find(self, *findings: dict[str, Any], query: str = "") -> Answer:
        """Report findings."""
        body = {"fence": self.fence, "findings": list(findings)}
        return self.api.post(f"{self.cycle}/findings", body, query)

    def close(self, **body: Any) -> Answer:
        """Close the cycle."""
        return self.api.patch(self.cycle, {"fence": self.fence, "outcome": "completed"} | body)

    def beat(self, **body: Any) -> Answer:
        """Be heard."""
        return self.api.post(f"controllers/{self.name}/heartbeat", body)

    def look(self, *findings: dict[str, Any]) -> Any:
        """Do a whole cycle; return what became of the findings."""
        good(self.open(), "Opened", 201)
        heard = good(self.find(*findings), "FindingResults")
        good(self.close(), "Closed")
        return heard["items"]


def scene(clock: Clock, *names: str, **spec: Any) -> Process:
    """Declare agents and a controller, and return the process that runs it."""
    for name in names or ("scribe",):
        agent(clock, name)
    keeper(clock, **spec)
    return Process()


def said(name: str = "scribe", type_: str = OWN, kind: str = "Agent") -> tuple[str, str]:
    """Return the status and the reason of a condition."""
    found = Condition.objects.get(resource=live(kind, name), type=type_)
    return found.status, found.reason


def pass_lease() -> None:
    """Let the time of a lease be over."""
    Runtime.objects.update(leased_until=timezone.now())
