"""What is really there: addresses, versions, fences and permits that cases may name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cases.scene import AGENT, KEEPER, Caller, Scene
from resources.documents import kinds

Address = dict[str, str]
QUESTION = {
    "operation": "read",
    "resource": "asset/tickets",
    "tokens": {"input": 9, "output": 1},
}
RUN = "workflows/refund-approval/runs"
RESTART = {
    "resource": f"agent/{AGENT}",
    "actions": [{"operation": "restart", "parameters": {}}],
    "why": "My memory grows.",
}
THROTTLE = RESTART | {"actions": [{"operation": "throttle", "parameters": {"factor": 0.5}}]}
EVENT = {
    "event": "support.refund_requested",
    "payload": {"ticketId": "4711", "amount": 35, "currency": "EUR"},
}


@dataclass
class Things:
    """Everything that cases may name."""

    # By the part of a path that needs them: `holds/{id}` has addresses such as {"id": "7"}.
    addresses: dict[str, list[Address]] = field(default_factory=dict)
    # By the name of a parameter or of a member of a body.
    values: dict[str, list[Any]] = field(default_factory=dict)
    # What `If-Match` names, by the address.
    tags: dict[tuple[str, ...], str] = field(default_factory=dict)
    documents: list[dict[str, Any]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)

    def at(self, place: str, *addresses: Address) -> None:
        """Add addresses."""
        self.addresses.setdefault(place, []).extend(addresses)

    def of(self, **values: Any) -> None:
        """Add values; what is not there is left out."""
        for name, value in values.items():
            if value not in (None, ""):
                self.values.setdefault(name, []).append(value)

    def place_of(self, path: str) -> str:
        """Return the longest part of a path for which there are addresses."""
        fitting = [each for each in self.addresses if f"{path}/".startswith(f"{each}/")]
        return max(fitting, key=len, default="")

    def document(self, address: Address) -> dict[str, Any] | None:
        """Return the document at an address."""
        for each in self.documents:
            name = each["metadata"]["name"]
            if address.get("name") == name and address.get("kind") == path_of(each["kind"]):
                return each
        return None


def path_of(kind: str) -> str:
    """Return how a kind is spelled in a path."""
    found = kinds.by_name(kind)
    return found.path if found else ""


def gather(scene: Scene) -> Things:
    """Let everybody begin some work, then look at what is there."""
    scene.restore()
    scene.revive()
    things = Things()
    begin(scene, things)
    look_at_resources(scene.admin, things)
    look_at_loop(scene.admin, things)
    look_at_work(scene, things)
    return things


def begin(scene: Scene, things: Things) -> None:
    """Propose, ask, start and spend, as the agent and the outside controller do."""
    agent, keeper = scene.agent, scene.keeper
    for wish in (RESTART, THROTTLE):
        agent.say("proposals", wish)
    agent.say("telemetry", EVENT)
    agent.say("usage", {"tokens": {"input": 9}})
    asked = agent.say("admission", QUESTION)
    things.of(permit=asked.get("permit"))
    approve_one(scene)
    run = agent.say(RUN, {"inputs": {"order": "4711"}})
    if run:
        begun = agent.say(f"{RUN}/{run['id']}/steps/check-order", {"verb": "start"})
        things.of(fence=begun.get("fence"), epoch=begun.get("epoch"))
    opened = keeper.say(f"controllers/{KEEPER}/cycles", {})
    if opened:
        things.of(fence=opened["fence"], epoch=opened["epoch"])
        number = str(opened["cycle"]["number"])
        # Most of what is said of cycles is about the one that is open.
        things.at("controllers/{name}/cycles/{number}", *[{"name": KEEPER, "number": number}] * 8)
    pause = {"kind": "pause", "scope": "resource", "resource": "agent/churn-watcher"}
    scene.maya.say("holds", pause | {"reason": "It is being looked at."})


def approve_one(scene: Scene) -> None:
    """Let the manager approve what the agent asks for, so that work waits for it."""
    for each in scene.maya.items("proposals?mine=true&limit=200"):
        if each["proposer"] == f"agent/{AGENT}" and each["operations"] == ["restart"]:
            tag = {"If_Match": f'"{each["tag"]}"'}
            scene.maya.say(f"proposals/{each['id']}/approve", {"reason": "It may."}, **tag)


def look_at_resources(admin: Caller, things: Things) -> None:
    """Find every resource, and some of its past."""
    for kind in kinds.ALL:
        page = admin.read(f"resources/{kind.path}?limit=200")
        things.at("resources/{kind}", {"kind": kind.path})
        for each in page.get("items", []):
            name, version = each["metadata"]["name"], each["metadata"]["resourceVersion"]
            address = {"kind": kind.path, "name": name}
            things.documents.append(each)
            things.versions.append(version)
            things.at("resources/{kind}/{name}", address)
            things.at(
                "resources/{kind}/{name}/revisions/{version}", address | {"version": version}
            )
            things.tags[tuple(address.values())] = f'"{version}"'
            things.of(resource=f"{kind.path}/{name}", **{kind.path: name})
            for place in ("controller", "agent", "workflow"):
                if kind.path == place:
                    things.at(f"{place}s/{{name}}", {"name": name})


def look_at_loop(admin: Caller, things: Things) -> None:
    """Find cycles."""
    for name in things.values.get("controller", []):
        for each in admin.items(f"controllers/{name}/cycles?limit=3"):
            address = {"name": name, "number": str(each["number"])}
            things.at("controllers/{name}/cycles/{number}", address)


def look_at_work(scene: Scene, things: Things) -> None:
    """Find proposals, holds, questions, actions and runs."""
    for each in scene.admin.items("proposals?limit=100"):
        address = {"id": str(each["id"])}
        things.at("proposals/{id}", address)
        things.tags["proposals", address["id"]] = f'"{each["tag"]}"'
        things.of(cause=each.get("cause"), tag=each["tag"], revises=each["id"])
    for each in scene.admin.items("holds?limit=20"):
        things.at("holds/{id}", {"id": str(each["id"])})
    for each in scene.agent.items("admission?limit=20"):
        things.at("admission/{id}", {"id": str(each["id"])})
    for number, each in enumerate(scene.agent.items("actions?limit=20")):
        things.at("actions/{id}", {"id": str(each["id"])})
        claimed = scene.agent.say(f"actions/{each['id']}/claim", {}) if number % 2 else {}
        things.of(fence=claimed.get("fence"), epoch=claimed.get("epoch"))
    for run in scene.admin.items(f"{RUN}?limit=10"):
        address = {"name": "refund-approval", "id": run["id"]}
        things.at("workflows/{name}/runs/{id}", address)
        for step in ("check-order", "check-ledger", "1"):
            things.at("workflows/{name}/runs/{id}/steps/{step}", address | {"step": step})
