"""Plays commands on the database it was given and answers each with what came of it, as JSON.

`python -m tests.differential.player`, with one command on each line of its input. What names a
row, and so may differ from database to database, is written as the place where it first appeared.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

START = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)
MERGE = "application/merge-patch+json"
SCOPES = ("resources:read", "status:write", "actions:write")
# Values of these members name a row, or depend on such a name.
NAMES = re.compile(
    r"(id|uid|tag|hash|previous|digest|.*Id|.*Version|.*Digest|version|since|nextSince|revision|"
    r"proposal|hold|fence|epoch|.*[cC]ursor|continue|next|number|after|upto|token|key|decision|causedBy|step)$",
)
LONG = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|(?<=[/#])\d+\b")
MEASURED = ("times", "durationMs")
WORKER = re.compile(r"vm?-?\S*-\d+-[0-9a-f]{8}")


class Stage:
    """One organisation on one database, and a clock that only commands move."""

    def __init__(self) -> None:
        import time_machine

        self.now = START
        self.clock = time_machine.travel(self.now, tick=False)
        self.traveller = self.clock.start()
        self.seen: dict[str, str] = {}
        self.people: dict[str, Any] = {}
        self.agents: dict[str, str] = {}

    def set_up(self) -> list[str]:
        """Load the example, let everybody in, and return the names of the agents."""
        from django.conf import settings
        from django.test import Client

        from controllers.access import people
        from controllers.worker import example_organisation
        from resources.documents.actor import Actor
        from resources.tables.models import Resource
        from resources.usecases import tokens

        # Days pass between two commands, and nobody is to be signed in again.
        settings.SESSION_LASTS = settings.SESSION_IDLE = timedelta(days=3_650)
        settings.SESSION_COOKIE_AGE = int(settings.SESSION_LASTS.total_seconds())
        administrator = people.ensure_administrator(self.now)
        example_organisation.load(self.now)
        for user in (administrator, *people.ensure_samples(self.now)):
            client = Client(SERVER_NAME="localhost", raise_request_exception=False)
            client.force_login(user)
            self.people[user.get_username()] = client
        rows = Resource.objects.filter(kind="Agent", deleted_at=None).order_by("name")
        for name in rows.values_list("name", flat=True):
            issued = tokens.issue(
                name,
                scopes=SCOPES,
                lifetime=timedelta(days=30),
                actor=Actor("person", "admin"),
                now=self.now,
            )
            self.agents[name] = issued.text
        return sorted(self.agents)

    def play(self, command: dict[str, Any]) -> Any:
        """Do what a command says and return what came of it, without names of rows."""
        return self.plain(getattr(self, command["do"])(command))

    def tick(self, command: dict[str, Any]) -> Any:
        """Let time pass and the loop work."""
        from controllers.loop.cycle_run import Means
        from controllers.worker import housekeeping, worker_loop

        self.now += timedelta(seconds=command["seconds"])
        self.traveller.move_to(self.now)
        housekeeping.run_due(self.now)
        cycles = worker_loop.work("player", Means(clock=lambda: self.now))
        return sorted([each.controller.name, each.outcome, each.counts] for each in cycles)

    def report(self, command: dict[str, Any]) -> Any:
        path = f"resources/agent/{command['agent']}/status"
        token = self.agents[command["as"]]
        return self.call("patch", path, command["status"], content_type=MERGE, token=token)

    def answer(self, command: dict[str, Any]) -> Any:
        """Answer one of the proposals that wait."""
        person = command["as"]
        found = self.listed("proposals?state=pending&limit=200")
        if not found:
            return "nothing waits"
        chosen = found[int(command["pick"] * len(found))]
        tag = "1-stale" if command["stale"] else chosen["tag"]
        path = f"proposals/{chosen['id']}/{command['answer']}"
        body = {"reason": command["reason"]}
        if command["answer"] == "snooze":
            body["until"] = (self.now + timedelta(hours=2)).isoformat()
        return self.call("post", path, body, person=person, if_match=f'"{tag}"')

    def hold(self, command: dict[str, Any]) -> Any:
        return self.call("post", "holds", command["hold"], person=command["as"])

    def lift(self, command: dict[str, Any]) -> Any:
        """Lift one of the holds that stand."""
        found = self.listed("holds")
        if not found:
            return "nothing is held"
        chosen = found[int(command["pick"] * len(found))]
        body = {"reason": command["reason"]}
        return self.call("post", f"holds/{chosen['id']}/lift", body, person=command["as"])

    def look(self, command: dict[str, Any]) -> Any:
        return self.call("get", command["path"], person=command["as"])

    def visit(self, command: dict[str, Any]) -> Any:
        """Open a page and read its words."""
        answer = self.people[command["as"]].get(command["path"])
        text = re.sub(r"<(script|style|svg).*?</\1>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
        return [answer.status_code, " ".join(text.split())]

    def declare(self, command: dict[str, Any]) -> Any:
        path = "resources/controller/agent-performance"
        return self.call("patch", path, command["patch"], content_type=MERGE, person=command["as"])

    def reconcile(self, command: dict[str, Any]) -> Any:
        path = "controllers/agent-performance/reconcile"
        return self.call("post", path, {}, person=command["as"])

    def claim(self, command: dict[str, Any]) -> Any:
        """Let an agent take up its first work and say how it went."""
        token = self.agents[command["as"]]
        _, found = self.call("get", "actions?state=claimable", token=token)
        if not isinstance(found, dict) or not found.get("items"):
            return found
        path = f"actions/{found['items'][0]['id']}"
        status, claimed = self.call("post", f"{path}/claim", {}, token=token)
        if status != 200:
            return [status, claimed]
        done = {"fence": claimed["fence"], "outcome": command["outcome"]}
        return [claimed, self.call("post", f"{path}/result", done, token=token)]

    def listed(self, path: str) -> list[Any]:
        """Read a list as somebody who sees everything, in an order that names no row."""
        _, found = self.call("get", path, person="admin")
        return sorted(found["items"], key=lambda each: int(each["id"]))

    def call(  # noqa: PLR0913 - a request has as many parts
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        person: str = "",
        token: str = "",
        content_type: str = "application/json",
        if_match: str = "",
    ) -> list[Any]:
        """Call the API and return status and body."""
        from django.test import Client

        fresh = Client(SERVER_NAME="localhost", raise_request_exception=False)
        client = self.people[person] if person else fresh
        headers = {"authorization": f"Bearer {token}"} if token else {}
        if if_match:
            headers["if-match"] = if_match
        sent = {} if body is None else {"data": orjson.dumps(body), "content_type": content_type}
        answer = getattr(client, method)(f"/api/v1/{path}", headers=headers, **sent)
        try:
            return [answer.status_code, orjson.loads(answer.content)]
        except orjson.JSONDecodeError:
            return [answer.status_code, answer.content.decode()]

    def plain(self, value: Any, name: str = "") -> Any:
        """Return a value without the names of rows."""
        if name in MEASURED:
            return "measured"
        if isinstance(value, dict):
            return {key: self.plain(value[key], key) for key in sorted(value)}
        if isinstance(value, (list, tuple)):
            return [self.plain(each, name) for each in value]
        if NAMES.match(name) and isinstance(value, (str, int)) and not isinstance(value, bool):
            return self.renamed(f"{name}:{value}")
        if isinstance(value, str):
            return LONG.sub(lambda found: self.renamed(found[0]), WORKER.sub("worker", value))
        return value

    def renamed(self, name: str) -> str:
        """Return the place where a name first appeared."""
        return self.seen.setdefault(name, f"#{len(self.seen)}")

    def ledger(self) -> Iterator[list[Any]]:
        """Yield the body of every entry, in order."""
        from resources.tables.models import LedgerEvent

        fields = ("event", "category", "severity", "actor", "subject", "payload")
        for row in LedgerEvent.objects.order_by("id").values_list(*fields):
            yield [self.plain(each, "body") for each in row]

    def states(self) -> Iterator[list[Any]]:
        """Yield how everything stands."""
        from controllers.models import Hold, Proposal
        from resources.tables.models import Condition, Resource

        for row in Resource.objects.order_by("kind", "name"):
            yield [
                row.kind,
                row.name,
                row.generation,
                self.plain(row.spec),
                self.plain(row.status),
            ]
        fields = ("resource__name", "type", "status", "reason", "message", "managed_by")
        for said in Condition.objects.order_by(*fields).values_list(*fields):
            yield [self.plain(each, "said") for each in said]
        for proposal in Proposal.objects.order_by("pk"):
            yield [proposal.resource.name if proposal.resource else "", proposal.state]
        for hold in Hold.objects.order_by("pk"):
            yield [hold.kind, hold.scope, hold.ended_at and str(hold.ended_at)]


def say(value: Any) -> None:
    """Answer one line."""
    sys.stdout.buffer.write(orjson.dumps(value, default=str) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Set the stage, then play whatever comes."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ioa_site.settings")
    import django

    django.setup()
    from ioa_site.server.database import migrate_if_needed

    migrate_if_needed()
    stage = Stage()
    say(stage.set_up())
    endings: dict[str, Callable[[], Any]] = {"ledger": stage.ledger, "states": stage.states}
    for line in sys.stdin.buffer:
        command = orjson.loads(line)
        ending = endings.get(command["do"])
        say(list(ending()) if ending else stage.play(command))


if __name__ == "__main__":
    main()
