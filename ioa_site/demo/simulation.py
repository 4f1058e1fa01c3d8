"""Agents of the example at work: they report over HTTP with tokens of their own, as real ones do.

One of them at a time is in a rush: its work piles up, its drift rises, a controller proposes to
throttle it. Once its declared allowance is lowered it works the pile off and reports so. All it
knows stands in its own status, so that it goes on where it was when the product starts again.
Every task costs tokens. What the tasks took is reported once a minute, so that budgets move.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from random import SystemRandom
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.utils import timezone

from controllers.worker import example_organisation
from ioa_client import Client, Failure, Problem
from resources.documents import problems
from resources.tables.models import AgentToken
from resources.usecases import tokens

logger = logging.getLogger("ioa.simulation")

Document = Mapping[str, Any]

STEP_SECONDS = 5.0
# In steps: before the first rush, between two of them, and how long nobody has to answer.
BREATH, REST, PATIENCE = 2, 12, 120
SCOPES = ("resources:read", "status:write", "usage:write")
TIMEOUT_SECONDS = 5.0
# What one task takes: a question and a short answer. A day and night of them stays within budget.
TASK_TOKENS = {"input": 110, "output": 20}
# In steps: how often agents say what their tasks took.
BILL_EVERY = 12
FAILURES = (Failure, DatabaseError, problems.Problem, KeyError, ValueError)

# How many tasks wait, and how many times slower and worse than allowed that makes an agent.
PILES: tuple[tuple[int, float, float], ...] = ((0, 0.4, 0.5), (40, 1.2, 0.8), (110, 1.6, 1.5))
WORST: tuple[int, float, float] = (240, 1.6, 2.0)
LEVELS = (*PILES, WORST)


class AgentConnection:
    """An agent's line to the product: its token, what it reads, what it reports."""

    def __init__(self, base: str, name: str) -> None:
        self.base, self.name = base, name
        self.client: Client | None = None
        self.bill = Bill()
        self.unpaid: list[dict[str, Any]] = []

    def read(self) -> Document:
        """Return the agent as it is declared and known."""
        with self.open() as product:
            return product.resources.read("agent", self.name)

    def report(self, status: dict[str, Any]) -> None:
        """Say how the agent is."""
        with self.open() as product:
            product.resources.report("agent", self.name, status)

    def spend(self, agent: Document, tasks: int) -> None:
        """Note what tasks took."""
        self.bill.add(tasks, agent["spec"].get("model", {}))

    def settle(self) -> None:
        """Say what was done since the last time; what cannot be said now is said later, once."""
        if self.bill.tasks:
            self.unpaid.append(self.bill.record())
            self.bill = Bill()
        if self.unpaid:
            with self.open() as product:
                product.usage.report(self.unpaid)
            self.unpaid = []

    @contextmanager
    def open(self) -> Iterator[Client]:
        """Lend the client; a token that is no longer taken is replaced at the next call."""
        if self.client is None:
            token = issued(self.name)
            # What fails is tried again at the next step, which comes soon.
            self.client = Client(self.base, token, timeout=TIMEOUT_SECONDS, attempts=1)
        try:
            yield self.client
        except Problem as problem:
            if problem.status == HTTPStatus.UNAUTHORIZED:
                self.client = None
            raise


class Bill:
    """What an agent did and has not reported yet."""

    def __init__(self) -> None:
        self.tasks = 0
        self.model: Document = {}

    def add(self, tasks: int, model: Document) -> None:
        """Note tasks, and which model did them."""
        self.tasks, self.model = self.tasks + tasks, model

    def record(self) -> dict[str, Any]:
        """Write it as a record of usage; what the model costs the product knows."""
        named = ("provider", "name", "version")
        return {
            "id": f"bill-{uuid.uuid4()}",
            "tokens": {name: self.tasks * each for name, each in TASK_TOKENS.items()},
            "model": {name: self.model[name] for name in named if name in self.model},
        }


class Worker:
    """An agent in its usual state: its figures move a little, within what is allowed."""

    def __init__(self, line: AgentConnection) -> None:
        self.line = line

    def live(self) -> None:
        """Report once."""
        agent = self.line.read()
        allowed = objectives(agent)
        share = 0.3 + SystemRandom().random() / 10
        self.line.report(
            {"avgLatency": f"{allowed['avgLatency'] * share:.1f}s", "lastExecution": instant()}
        )
        self.line.spend(agent, 1)


class Rush:
    """An agent whose work piles up until it is slowed down, or until nobody answers for long."""

    def __init__(self, line: AgentConnection) -> None:
        self.line = line
        self.waited = 0

    def live(self, *, may_begin: bool) -> bool:
        """Report once, a little worse or better than before; return whether the rush goes on."""
        agent = self.line.read()
        level, slowed = level_of(agent), slowed_down(agent)
        self.waited += level == len(LEVELS) - 1
        better = slowed or self.waited > PATIENCE
        rising = not better and (may_begin or level > 0)
        following = max(level - 1, 0) if better else min(level + rising, len(LEVELS) - 1)
        self.line.report(state_at(following, agent))
        # Whoever is paused does nothing; what is no longer piled up was done.
        worked_off = max(LEVELS[level][0] - LEVELS[following][0], 0)
        if agent["spec"].get("state") != "paused":
            self.line.spend(agent, 1 + worked_off)
        return rising or following > 0


class Simulation:
    """Lets the agents live until it is stopped; whatever is refused is tried again later."""

    def __init__(self, base: str) -> None:
        self.stopping = threading.Event()
        self.workers = [
            Worker(AgentConnection(base, name)) for name in example_organisation.STEADY
        ]
        self.queue = deque(
            Rush(AgentConnection(base, name)) for name in example_organisation.GUIDED
        )
        self.lines = [each.line for each in self.workers] + [each.line for each in self.queue]
        self.steps, self.rest = 0, BREATH
        self.thread = threading.Thread(target=self.run, name="ioa-simulation", daemon=True)

    def start(self) -> None:
        """Begin."""
        self.thread.start()

    def stop(self, grace: float = 2.0) -> bool:
        """End; tokens that were issued are worth nothing from then on."""
        self.stopping.set()
        if self.thread.ident is not None:
            self.thread.join(grace)
        return not self.thread.is_alive()

    def run(self) -> None:
        """Take step after step."""
        with tolerated():
            retire_tokens()
        while not self.stopping.wait(STEP_SECONDS):
            self.step()
        with tolerated():
            retire_tokens()

    def step(self) -> None:
        """Let everybody report: the one in a rush always, the others in turn."""
        self.steps += 1
        with tolerated():
            self.workers[self.steps % len(self.workers)].live()
        with tolerated():
            self.rush()
        if self.steps % BILL_EVERY == 0:
            for line in self.lines:
                with tolerated():
                    line.settle()

    def rush(self) -> None:
        """Let the first in the queue get into a rush, once somebody is there to see it."""
        if self.rest and somebody_came():
            self.rest -= 1
        first = self.queue[0]
        if not first.live(may_begin=not self.rest) and not self.rest:
            self.rest, first.waited = REST, 0
            self.queue.rotate(-1)


def objectives(agent: Document) -> dict[str, float]:
    """Return what is allowed of an agent, by name."""
    return {each["name"]: float(each["value"]) for each in agent["spec"]["objectives"]}


def slowed_down(agent: Document) -> bool:
    """Tell whether somebody lowered an agent's allowance, or told it to pause."""
    spec = agent["spec"]
    return "throttled" in spec.get("tokenBudget", {}) or spec.get("state") == "paused"


def level_of(agent: Document) -> int:
    """Return how bad an agent is off, by the pile it reported last."""
    waiting = agent.get("status", {}).get("queueLength", 0)
    return sum(waiting >= tasks for tasks, _, _ in LEVELS[1:])


def state_at(level: int, agent: Document) -> dict[str, Any]:
    """Return what an agent reports at a level."""
    tasks, slowness, errors = LEVELS[level]
    allowed, worst = objectives(agent), LEVELS[level] == WORST
    paused = agent["spec"].get("state") == "paused"
    ready = {
        "type": "Ready",
        "status": "False" if worst else "True",
        "reason": "Overloaded" if worst else "Serving",
        "message": f"{tasks} tasks wait." if tasks else "Takes work and answers in time.",
    }
    return {
        "state": "paused" if paused else "degraded" if worst else "running",
        "queueLength": tasks,
        "avgLatency": f"{allowed['avgLatency'] * slowness:.1f}s",
        "errorRate": round(allowed["errorRate"] * errors, 4),
        "healthScore": 0.58 if worst else 0.9,
        "conditions": [ready],
    }


def instant() -> str:
    """Return the time as documents spell it."""
    return timezone.now().replace(microsecond=0).isoformat().replace("+00:00", "Z")


def somebody_came() -> bool:
    """Tell whether anybody has signed in yet: a rush is to be seen."""
    return User.objects.filter(last_login__isnull=False).exists()


def issued(name: str) -> str:
    """Return a new token for an agent."""
    now = timezone.now()
    return tokens.issue(
        name,
        scopes=SCOPES,
        lifetime=tokens.DEFAULT_LIFETIME,
        actor=example_organisation.SIMULATION,
        now=now,
    ).text


def retire_tokens() -> None:
    """Revoke what this or an earlier simulation was issued."""
    living = AgentToken.objects.filter(
        created_by=str(example_organisation.SIMULATION), revoked_at=None
    )
    for key in living.values_list("key_id", flat=True):
        tokens.revoke(key, actor=example_organisation.SIMULATION, now=timezone.now())


@contextmanager
def tolerated() -> Iterator[None]:
    """Let a step fail: the next one comes soon; no connection is kept meanwhile."""
    try:
        yield
    except FAILURES as error:
        logger.info("A simulated agent was refused: %s", error)
    finally:
        connection.close()
