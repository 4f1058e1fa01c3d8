"""Random commands for one organisation: what people, agents and the clock do to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Command = dict[str, Any]

PEOPLE = ("maya", "tomas", "ines", "vera", "admin")
DECIDERS = ("maya", "tomas", "admin")
ANSWERS = ("approve", "reject", "snooze", "withdraw", "approve", "reject", "approve")
REASONS = ("", "Fine.", "It has happened before, and this helped.", "  ", "Nein, später. \u202e")
LOOKS = (
    "proposals",
    "proposals?state=pending&limit=5",
    "proposals/causes",
    "holds",
    "alerts",
    "controllers/agent-performance/cycles",
    "controllers/agent-performance/record",
    "resources/agent",
    "resources/budget",
    "resources/controller/agent-performance",
    "economics",
    "events?since=0&limit=200",
    "resources/agent?limit=0",
    "resources/nothing",
    "proposals/999999",
)
PAGES = ("/", "/approvals", "/controllers", "/resources", "/overrides", "/economics")
STATUSES: tuple[Any, ...] = (
    {"state": "running", "errorRate": 0.001, "avgLatency": "0.4s", "healthScore": 0.99},
    {"state": "degraded", "errorRate": 0.4, "avgLatency": "30s", "healthScore": 0.2},
    {"state": "running", "queueLength": 500, "avgLatency": "90s"},
    {"state": "nonsense"},
    {"errorRate": "much"},
    {"healthScore": 7},
    {"conditions": []},
    {"note": "\u0000"},
    {"note": "x" * 5_000},
    {"deep": {"a": {"b": [1, 2.5, 1e300, None, True, "ü"]}}},
    {},
    [],
    "text",
)
HOLDS: tuple[Any, ...] = (
    {"kind": "stop", "scope": "organisation", "reason": "Look first.", "openEnded": True},
    {"kind": "freeze", "scope": "organisation", "reason": "Holiday.", "openEnded": True},
    {
        "kind": "pause",
        "scope": "domain",
        "domain": "support",
        "reason": "Busy.",
        "openEnded": True,
    },
    {
        "kind": "pause",
        "scope": "domain",
        "domain": "nowhere",
        "reason": "Busy.",
        "openEnded": True,
    },
    {"kind": "pause", "scope": "controller", "controller": "agent-performance", "reason": "Wait."},
    {"kind": "override", "scope": "resource", "reason": ""},
    {"kind": "what"},
)


def commands(seed: int, count: int, agents: list[str]) -> Iterator[Command]:
    """Yield random commands, the same for the same seed."""
    chance = Random(seed)  # noqa: S311 - it only has to repeat
    for _ in range(count):
        make = chance.choices(MAKERS, WEIGHTS)[0]
        yield make(chance, agents)


def tick(chance: Random, agents: list[str]) -> Command:
    return {"do": "tick", "seconds": chance.choice((1, 5, 30, 61, 300, 3_600, 90_000))}


def report(chance: Random, agents: list[str]) -> Command:
    agent = chance.choice(agents)
    bearer = agent if chance.random() < 0.9 else chance.choice(agents)
    status = chance.choice(STATUSES)
    return {"do": "report", "as": bearer, "agent": agent, "status": status}


def answer(chance: Random, agents: list[str]) -> Command:
    return {
        "do": "answer",
        "as": chance.choice(DECIDERS if chance.random() < 0.8 else PEOPLE),
        "answer": chance.choice(ANSWERS),
        "pick": chance.random(),
        "reason": chance.choice(REASONS),
        "stale": chance.random() < 0.1,
    }


def hold(chance: Random, agents: list[str]) -> Command:
    return {"do": "hold", "as": chance.choice(PEOPLE), "hold": chance.choice(HOLDS)}


def lift(chance: Random, agents: list[str]) -> Command:
    reason = chance.choice(REASONS)
    return {"do": "lift", "as": chance.choice(PEOPLE), "pick": chance.random(), "reason": reason}


def look(chance: Random, agents: list[str]) -> Command:
    return {"do": "look", "as": chance.choice(PEOPLE), "path": chance.choice(LOOKS)}


def visit(chance: Random, agents: list[str]) -> Command:
    return {"do": "visit", "as": chance.choice(PEOPLE), "path": chance.choice(PAGES)}


def declare(chance: Random, agents: list[str]) -> Command:
    spec = {"driftThreshold": chance.choice((0.05, 0.15, 0.5, 2, "much"))}
    mode = chance.choice(("observe", "warn", "enforce", "advise", "sometimes"))
    patch = {"spec": spec | {"enforcementMode": mode}}
    return {"do": "declare", "as": chance.choice(PEOPLE), "patch": patch}


def reconcile(chance: Random, agents: list[str]) -> Command:
    return {"do": "reconcile", "as": chance.choice(PEOPLE)}


def claim(chance: Random, agents: list[str]) -> Command:
    ending = chance.choice(("success", "failure", "nonsense"))
    return {"do": "claim", "as": chance.choice(agents), "outcome": ending}


WEIGHED: dict[Callable[[Random, list[str]], Command], int] = {
    tick: 8,
    report: 8,
    answer: 8,
    hold: 2,
    lift: 3,
    look: 4,
    visit: 2,
    declare: 1,
    reconcile: 2,
    claim: 3,
}
MAKERS, WEIGHTS = list(WEIGHED), list(WEIGHED.values())
