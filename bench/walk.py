"""Walk with one status report from HTTP to verification, and count the modules it enters.

`python -m bench.walk` plays it in this process on a database of its own: an agent reports that it
spends too much, its controller looks, a person approves the throttle, the worker carries it out,
the agent reports again, and the controller looks whether it helped. For each hop it prints how
many modules of the product are entered, and how often one context hands over to another.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

PRODUCT = ("controllers", "resources", "ioa_site")
JSON, MERGE = "application/json", "application/merge-patch+json"
LIMIT = 100_000
AGENTS = ("sorter", "packer")


class Hop(NamedTuple):
    """One hop of the walk: the modules it entered, and its changes of context."""

    name: str
    modules: frozenset[str]
    changes: int


class Walker:
    """Counts what the product calls, hop by hop."""

    def __init__(self) -> None:
        self.hops: list[Hop] = []
        self.modules: set[str] = set()
        self.changes = 0
        self.place = ""

    def hop(self, name: str, do: Callable[[], Any]) -> Any:
        """Do something under the profiler."""
        self.modules, self.changes, self.place = set(), 0, ""
        sys.setprofile(self.called)
        try:
            answer = do()
        finally:
            sys.setprofile(None)
        self.hops.append(Hop(name, frozenset(self.modules), self.changes))
        return answer

    def called(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call of the product's own code; what frameworks do in between is theirs."""
        module = frame.f_globals.get("__name__", "")
        if event != "call" or module.partition(".")[0] not in PRODUCT:
            return
        self.modules.add(module)
        place = ".".join(module.split(".")[:2])
        self.changes += place != self.place
        self.place = place


def organisation() -> list[dict[str, Any]]:
    """Return a domain with two agents, and the controller that looks after it."""
    owner = {"name": "Ana", "role": "lead"}

    def document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
        about = {"name": name, "owner": owner}
        return {"apiVersion": "ioa.dev/v0.2", "kind": kind, "metadata": about, "spec": spec}

    own = {"domain": "depot", "type": "autonomous", "purpose": "Packs."}
    agent = {**own, "tokenBudget": {"maxDaily": LIMIT}}
    keeper = {
        "targetKind": "Agent",
        "targetSelector": {},
        "reconcileInterval": "1h",
        "enforcementMode": "warn",
        "actions": {"onDrift": [{"type": "reconcile", "strategy": "immediate"}]},
    }
    return [
        document("Domain", "depot", {"purpose": "Ships parcels."}),
        *(document("Agent", name, agent) for name in AGENTS),
        document("Controller", "keeper", keeper),
    ]


def prepare(folder: str) -> None:
    """Set the product up on an empty database in a folder."""
    os.environ |= {"IOA_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "ioa_site.settings"}
    os.environ.pop("DATABASE_URL", None)
    os.environ.pop("REDIS_URL", None)
    import django

    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    call_command("migrate", verbosity=0)
    setup_test_environment()


def people() -> Any:
    """Return the browser of somebody who may do everything here."""
    from django.contrib.auth.models import User
    from django.test import Client
    from django.utils import timezone

    from controllers.models import Grant

    person = User.objects.create_user("ana")
    for role in ("administrator", "approver", "operator"):
        Grant.objects.create(
            person=person, role=role, granted_by="bench", granted_at=timezone.now()
        )
    client = Client()
    client.force_login(person)
    return client


def walk(client: Any, agent: str) -> list[Hop]:
    """Play the whole way of one agent, and return its hops."""
    from django.utils import timezone

    from controllers.loop.cycle_run import Means
    from controllers.worker.worker_loop import work

    walker, ask = Walker(), partial(send, client)

    def report(spent: int) -> Any:
        spending = {"costConsumed": {"tokens": spent}}
        return ask("PATCH", f"resources/agent/{agent}/status", spending, media=MERGE)

    def look() -> Any:
        return work("walker", Means(timezone.now))

    report(1)
    look()
    walker.hop("the agent reports", lambda: report(9 * LIMIT))
    walker.hop("the controller looks and proposes", look)
    (waiting,) = ask("GET", "proposals?state=pending")["items"]
    number, seen = waiting["id"], f'"{waiting["revision"]}:{waiting["actionDigest"]}"'
    walker.hop("a person approves", lambda: ask("POST", f"proposals/{number}/approve", seen=seen))
    walker.hop("the worker carries it out", look)
    walker.hop("the agent reports again", lambda: report(1))
    walker.hop("the controller verifies", look)
    state = ask("GET", f"proposals/{number}")["state"]
    if state != "succeeded":
        raise SystemExit(f"The way ended early: the proposal is {state}.")
    return walker.hops


def send(
    client: Any, method: str, path: str, body: Any = None, *, media: str = JSON, seen: str = ""
) -> Any:
    """Call the API, and stop where it refuses."""
    text = json.dumps(body or {})
    said = {"If-Match": seen} if seen else {}
    answer = client.generic(method, f"/api/v1/{path}", text, content_type=media, headers=said)
    if answer.status_code >= 400:
        raise SystemExit(f"{method} {path}: {answer.status_code} {answer.content!r}")
    return answer.json()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        client = people()
        send(client, "POST", "apply", {"items": organisation()})
        # The first way compiles and remembers what every later one finds ready.
        walk(client, AGENTS[0])
        hops = walk(client, AGENTS[1])
    for hop in hops:
        print(f"{hop.name:<36}{len(hop.modules):>6}{hop.changes:>8}")  # noqa: T201
    every = frozenset().union(*(hop.modules for hop in hops))
    print(f"{'in all':<36}{len(every):>6}{sum(hop.changes for hop in hops):>8}")  # noqa: T201


if __name__ == "__main__":
    main()
