"""The figures beyond one cycle: many workers, calls, open pages, people in the middle, a start."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from bench import starting
from bench.figures import Figure

if TYPE_CHECKING:
    from bench.suite import Suite

WORKERS, BUSY = 2, 4


def workers(suite: Suite) -> Iterator[Figure]:
    """B6: let one worker, then two, run a cycle of every controller."""
    if suite.database.name != "postgres":
        return
    size, spent = suite.plan.shared, dict[int, list[float]]()
    divided(suite, size)
    for number in range(suite.plan.pairs):
        for count in (1, WORKERS):
            suite.progress(f"{size:,} workers {count}", number + 1, suite.plan.pairs)
            found = suite.on_copy("changed", "share", worker=task("take"), count=count)
            spent.setdefault(count, []).append(found["wall"])
    suite.drop("settled", "changed", "run")
    pairs = zip(spent[1], spent[WORKERS], strict=True)
    yield suite.figure("B6", size, [one / many for one, many in pairs])
    yield suite.figure("B6one", size, spent[1])


def divided(suite: Suite, size: int) -> None:
    """Make a database with a controller for each domain, and something new for all of them."""
    suite.progress(f"{size:,} preparing", 0, 0)
    suite.database.create("settled")
    suite.run("settled", "load", size=size)
    suite.run("settled", "divide")
    suite.database.copy("settled", "changed")
    suite.run("changed", "change")


def calls(suite: Suite) -> Iterator[Figure]:
    """B7: compare calls of the API with views that do the same statements by hand."""
    size = suite.plan.sizes[-1]
    suite.progress(f"{size:,} preparing", 0, 0)
    suite.database.create("bare")
    suite.run("bare", "load", size=size)
    for what in ("list", "report"):
        spent: dict[bool, list[float]] = {False: [], True: []}
        for number in range(suite.plan.pairs):
            suite.progress(f"{size:,} {what}", number + 1, suite.plan.pairs)
            for bare in spent:
                found = suite.on_copy("bare", "ask", what=what, times=suite.plan.calls, bare=bare)
                spent[bare].append(found["cpu"])
        pairs = zip(spent[False], spent[True], strict=True)
        yield suite.figure(f"B7{what}", size, [ours / bare for ours, bare in pairs])
        yield suite.figure(f"B7{what}call", size, [each * 1e6 for each in spent[False]])
    suite.drop("bare", "run")


def pages(suite: Suite) -> Iterator[Figure]:
    """B8: tell a thousand open pages, and compare with a bare broadcast."""
    guests, rounds = suite.plan.guests, suite.plan.rounds
    suite.database.create("bare")
    suite.run("bare", "load", size=100)
    ours, bare, lost = [], [], []
    for number in range(suite.plan.pairs):
        suite.progress(f"{guests:,} pages", number + 1, suite.plan.pairs)
        sizes = {"guests": guests, "rounds": rounds}
        found = suite.on_copy("bare", "crowd", **sizes, burst=suite.plan.burst, port=free_port())
        ours.append(found["cpu"])
        lost.append(found["lost"])
        bare.append(suite.run("run", "bare", **sizes, port=free_port())["cpu"])
    suite.drop("bare", "run")
    yield suite.figure("B8", guests, [one / other for one, other in zip(ours, bare, strict=True)])
    yield suite.figure("B8cpu", guests, [each * 1e6 for each in ours])
    yield suite.figure("B8lost", guests, lost)


def decisions(suite: Suite) -> Iterator[Figure]:
    """B9: let a person approve during a cycle; the databases are those of the edits."""
    size, runs = suite.plan.edited, []
    for number in range(suite.plan.pairs):
        suite.progress(f"{size:,} decisions", number + 1, suite.plan.pairs)
        runs.append(suite.on_copy("changed", "decide", cycle=task("full"))["busy"])
    yield from waits(suite, "B9decide", runs)


def pauses(suite: Suite) -> Iterator[Figure]:
    """B9: let a person press pause while four workers are busy."""
    if suite.database.name != "postgres":
        return
    divided(suite, suite.plan.edited)
    runs = []
    for number in range(suite.plan.pairs):
        suite.progress(f"{suite.plan.edited:,} pauses", number + 1, suite.plan.pairs)
        runs.append(suite.on_copy("changed", "pause", worker=task("toil"), count=BUSY)["busy"])
    suite.drop("settled", "changed", "run")
    yield from waits(suite, "B9pause", runs)


def waits(suite: Suite, name: str, runs: list[list[float]]) -> Iterator[Figure]:
    """Say how long people waited, and at most."""
    for suffix, share in (("", 0.99), ("max", 1.0)):
        values = [percentile(each, share) * 1e3 for each in runs]
        yield suite.figure(f"{name}{suffix}", suite.plan.edited, values)


def everything(suite: Suite) -> Iterator[Figure]:
    """B11: run a large place with all its parts, and see whether anybody waits too long."""
    if not suite.database.redis:
        return
    size, plan = suite.plan.sizes[-1], suite.plan
    suite.progress(f"{size:,} preparing", 0, 0)
    suite.database.create("whole")
    suite.run("whole", "load", size=size, domains=plan.domains)
    suite.run("whole", "settle", domains=plan.domains)
    suite.progress(f"{size:,} everything at once", 0, 0)
    sizes = {"guests": plan.guests, "rate": plan.rate, "seconds": plan.minutes * 60}
    found = suite.run("whole", "whole", port=free_port(), **sizes)
    suite.drop("whole")
    yield suite.figure("B11", size, [max(found["late"])])
    yield suite.figure("B11reports", size, [found["reports"]])
    yield suite.figure("B11deaf", size, [found["deaf"]])
    yield suite.figure("B11page", size, [percentile(found["waits"], 0.95) * 1e3])


def start(suite: Suite) -> Iterator[Figure]:
    """B10: start the product on nothing, and an empty project."""
    if suite.database.name != "sqlite":
        return
    ours, theirs = [], []
    for number in range(suite.plan.pairs):
        suite.progress("start", number + 1, suite.plan.pairs)
        ours.append(starting.ours(free_port()))
        theirs.append(starting.theirs(free_port()))
    yield suite.figure("B10", 0, [one / other for one, other in zip(ours, theirs, strict=True)])
    yield suite.figure("B10start", 0, ours)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def task(name: str, arguments: Mapping[str, Any] | None = None) -> list[str]:
    """Spell the command of a run."""
    return [sys.executable, "-m", "bench.tasks", name, orjson.dumps(arguments or {}).decode()]


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


FIGURES: Mapping[str, Callable[[Suite], Iterator[Figure]]] = {
    "B6": workers,
    "B7": calls,
    "B8": pages,
    "B9": pauses,
    "B10": start,
    "B11": everything,
}
