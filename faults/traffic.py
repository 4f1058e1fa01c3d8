"""Who uses the product while it breaks: agents, people who decide, one who stops everything."""

from __future__ import annotations

import itertools
import random
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from faults import staging
from faults.calling import Actor, Answer, Ask, Caller
from faults.world import World

PAGES = ("/", "/approvals", "/resources", "/overrides", "/audit")
# Out of a hundred answers: how many are no, and how many say what is done instead.
NO, INSTEAD = 12, 5
OVERRIDDEN = "spec.tokenBudget.maxDaily"


class Reporter(Actor):
    """Agents that say how they are: every third report is of one that spends too much."""

    def __init__(self, world: World, random: random.Random, base: str) -> None:
        super().__init__(Caller("agents", world.client({}, base), world.clients))
        self.world, self.random, self.numbers = world, random, itertools.count(1)

    def turn(self) -> None:
        """Report once."""
        name, number = self.random.choice(staging.units()), next(self.numbers)
        tokens = staging.LIMIT * (2 if self.random.random() < 0.3 else 0.5)
        told = {"state": "running", "queueLength": number}
        told["costConsumed"] = {"tokens": int(tokens), "period": "daily"}
        path, about = f"resources/agent/{name}/status", {"agent": name, "number": number}
        headers = {"Authorization": f"Bearer {self.world.tokens[name]}"}
        self.caller.act(Ask("report", "PUT", path, told, headers, about))
        self.stopping.wait(0.3)


class Proposer(Actor):
    """Agents that propose: changes of what is declared, calls that may be repeated, and not."""

    def __init__(self, world: World, random: random.Random, base: str) -> None:
        super().__init__(Caller("proposers", world.client({}, base), world.clients))
        self.world, self.random = world, random

    def turn(self) -> None:
        """Propose once."""
        unit, by = self.random.choice(staging.units()), self.random.choice(staging.units())
        wishes = [
            ("agent/" + unit, "throttle", {"agent": unit, "factor": self.factor()}),
            ("agent/" + unit, "restart", {"agent": unit}),
            self.starting(),
        ]
        resource, operation, parameters = self.random.choices(wishes, (5, 4, 3))[0]
        body = {
            "resource": resource,
            "actions": [{"operation": operation, "parameters": parameters}],
            "why": "Faults are tried.",
        }
        headers = {
            "Authorization": f"Bearer {self.world.tokens[by]}",
            "Idempotency-Key": uuid.uuid4().hex,
        }
        self.caller.act(Ask("propose", "POST", "proposals", body, headers, {"by": by}))
        self.stopping.wait(0.2)

    def factor(self) -> float:
        """Draw a share that nobody drew before."""
        return round(self.random.uniform(0.05, 0.95), 6)

    def starting(self) -> tuple[str, str, dict[str, Any]]:
        """Start a workflow, which must not happen twice."""
        flow = self.random.choice(staging.flows())
        return f"workflow/{flow}", "start", {"workflow": flow}


class Decider(Actor):
    """A person who answers what waits, the newest first: mostly yes, sometimes no."""

    def __init__(self, world: World, name: str, random: random.Random, base: str) -> None:
        super().__init__(Caller(name, world.person(name, base), world.clients))
        self.random = random

    def turn(self) -> None:
        """Look at what waits, and answer some of it."""
        found = self.caller.act(Ask("list", "GET", "proposals?state=pending&limit=20"))
        items = found.document.get("items", []) if found.good else []
        for each in self.random.sample(items, min(3, len(items))):
            if self.stopping.is_set():
                return
            self.answer(each)
        self.stopping.wait(0.5)

    def answer(self, each: dict[str, Any]) -> Answer:
        """Answer one."""
        word, body = self.word(each)
        about = {"proposal": each["id"], "revision": each["revision"], "answer": word}
        headers = {"If-Match": f'"{each["tag"]}"'}
        path = f"proposals/{each['id']}/{word}"
        return self.caller.act(Ask("decide", "POST", path, body, headers, about))

    def word(self, each: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Choose an answer, with what it needs."""
        drawn = self.random.random() * 100
        if drawn < NO:
            return "reject", {"reason": "Not now."}
        if drawn < NO + INSTEAD and each["operations"] == ["throttle"]:
            until = (datetime.now(UTC) + timedelta(seconds=20)).isoformat()
            value = {"path": OVERRIDDEN, "value": self.random.randrange(1_000, 900_000)}
            return "override", {"reason": "Done by hand.", "until": until, **value}
        return "approve", {"reason": "Agreed."}


class Stopper(Actor):
    """A person who stops the organisation, looks, and lets it go on."""

    def __init__(self, world: World, name: str, random: random.Random, base: str) -> None:
        super().__init__(Caller(name, world.person(name, base), world.clients))
        self.random = random
        self.standing: int | None = None

    def turn(self) -> None:
        """Stop everything for a moment."""
        self.stopping.wait(self.random.uniform(1.0, 2.5))
        if self.stopping.is_set():
            return
        self.pause()
        self.stopping.wait(self.random.uniform(0.5, 1.2))
        self.resume()

    def pause(self) -> None:
        """Stop everything; the answer says what is on the wire."""
        body = {"kind": "stop", "scope": "organisation", "reason": "Look first."}
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        found = self.caller.act(Ask("pause", "POST", "holds", body, headers))
        self.standing = found.document["hold"]["id"] if found.good else None

    def resume(self) -> None:
        """Let it go on, also what was stopped although no answer came."""
        keys = [self.standing] if self.standing else self.left_over()
        for key in keys:
            about = {"hold": key}
            self.caller.act(
                Ask("resume", "POST", f"holds/{key}/lift", {"reason": "Go."}, {}, about)
            )
        self.standing = None

    def left_over(self) -> list[int]:
        """Return the stops that stand."""
        found = self.caller.act(Ask("list", "GET", "holds?standing=true&limit=50"))
        items = found.document["items"] if found.good else []
        return [each["id"] for each in items if each["kind"] == "stop"]

    def last(self) -> None:
        """Leave nothing stopped, however long it takes to be heard."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.standing = None
            found = self.caller.act(Ask("list", "GET", "holds?standing=true&limit=50"))
            if found.good and not any(e["kind"] == "stop" for e in found.document["items"]):
                return
            self.resume()
            time.sleep(0.2)


class Reader(Actor):
    """A person who goes from page to page."""

    def __init__(self, world: World, name: str, random: random.Random, base: str) -> None:
        super().__init__(Caller(name, world.person(name, base), world.clients))
        self.random = random

    def turn(self) -> None:
        """Open a page."""
        self.caller.act(Ask("page", "GET", self.random.choice(PAGES)))
        self.stopping.wait(0.4)


class Traffic:
    """Everybody at once."""

    def __init__(self, world: World, seed: int, base: str = "") -> None:
        draw = random.Random(seed)  # noqa: S311
        self.stopper = Stopper(world, "admin", draw, base)
        self.actors: list[Actor] = [
            Reporter(world, draw, base),
            Proposer(world, draw, base),
            Decider(world, "maya", draw, base),
            Decider(world, "tomas", draw, base),
            Reader(world, "ines", draw, base),
            self.stopper,
        ]

    def __enter__(self) -> Traffic:
        for each in self.actors:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let everybody end what they are at; the one who stops everything goes last."""
        for each in self.actors:
            each.stopping.set()
        for each in self.actors:
            each.join(120)
        broken = [each for each in self.actors if each.broken is not None]
        if broken:
            raise RuntimeError(f"{broken[0].name} broke: {broken[0].broken!r}")
