"""The suite: which runs are made, in which order, and what they come to."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bench import wider
from bench.databases import Database
from bench.figures import Figure

ROOT = Path(__file__).resolve().parent.parent
# What is said while it is done: the run, how many there are, and which one this is.
Progress = Callable[[str, int, int], None]
Found = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is to be measured, how large and how often."""

    figures: frozenset[str] = frozenset(f"B{number}" for number in range(1, 12))
    sizes: tuple[int, ...] = (10_000, 100_000)
    pending: tuple[int, int] = (1_000, 100_000)
    enqueued: int = 10_000
    edited: int = 40_000
    shared: int = 100_000
    calls: int = 500
    guests: int = 1_000
    rounds: int = 20
    burst: int = 300
    domains: int = 200
    rate: int = 300
    minutes: float = 4
    pairs: int = 5

    def wants(self, *names: str) -> bool:
        """Tell whether any of these figures is to be measured."""
        return not self.figures.isdisjoint(names)


class Failed(Exception):
    """A run failed; the text is the end of what it said."""


class Suite:
    """All figures of one database."""

    def __init__(self, database: Database, folder: Path, plan: Plan, progress: Progress) -> None:
        self.database, self.folder, self.plan, self.progress = database, folder, plan, progress
        # What could not be measured, each with a sentence.
        self.failures: list[str] = []

    def measure(self) -> Iterator[Figure]:
        """Yield the figures, in the order in which they become known.

        What one of them cannot do does not cost the others.
        """
        if self.plan.wants("B1", "B2", "B3", "B4"):
            yield from self.attempt(self.every_size())
        if self.plan.wants("B5"):
            yield from self.attempt(self.enqueue())
        if self.plan.wants("B9"):
            yield from self.attempt(self.edits())
        for name, measure in wider.FIGURES.items():
            if self.plan.wants(name):
                yield from self.attempt(measure(self))

    def attempt(self, figures: Iterator[Figure]) -> Iterator[Figure]:
        """Yield figures until one fails."""
        try:
            yield from figures
        except Failed as failure:
            self.failures.append(str(failure))

    def every_size(self) -> Iterator[Figure]:
        """Compare cycles of every size."""
        before: dict[str, list[Found]] = {}
        for size in self.plan.sizes:
            runs = self.cycles(size)
            yield from self.costs(size, runs)
            yield from self.growth(size, runs, before)
            before = runs

    def cycles(self, size: int) -> dict[str, list[Found]]:
        """Run every kind of cycle, one after the other, and all over again."""
        runs: dict[str, list[Found]] = {"first": [self.prepare(size)]}
        sources = {"full": "changed"}
        if self.plan.wants("B1"):
            sources["floor"] = "changed"
        if self.plan.wants("B3"):
            sources |= {"some": "settled", "nothing": "settled"}
        for number in range(self.plan.pairs):
            for task, source in sources.items():
                self.progress(f"{size:,} {task}", number + 1, self.plan.pairs)
                runs.setdefault(task, []).append(self.on_copy(source, task))
        self.drop("settled", "changed", "run")
        return runs

    def prepare(self, size: int) -> Found:
        """Make the databases all cycles start from; return what the first cycle took."""
        self.progress(f"{size:,} preparing", 0, 0)
        self.database.create("settled")
        self.run("settled", "load", size=size)
        first = self.run("settled", "first")
        self.run("settled", "floor")
        self.database.copy("settled", "changed")
        self.run("changed", "change")
        return first

    def costs(self, size: int, runs: dict[str, list[Found]]) -> Iterator[Figure]:
        """Compare the cycles of one size."""
        full = cpu(runs["full"])
        if "floor" in runs:
            floor = cpu(runs["floor"])
            yield self.figure("B1", size, ratios(full, floor))
            yield self.figure("B1cycle", size, [each / size * 1e6 for each in full])
            yield self.figure("B1floor", size, [each / size * 1e6 for each in floor])
            first = cpu(runs["first"])[0]
            yield self.figure("B1first", size, [first / each for each in floor])
        if "some" in runs:
            yield self.figure("B3", size, ratios(full, cpu(runs["some"])))
            yield self.figure("B3nothing", size, ratios(full, cpu(runs["nothing"])))
        if self.plan.wants("B4"):
            yield self.figure("B4", size, [each["peak"] for each in runs["full"]])
            yield self.figure("B4start", size, [each["start"] for each in runs["full"]])

    def growth(
        self, size: int, runs: dict[str, list[Found]], before: dict[str, list[Found]]
    ) -> Iterator[Figure]:
        """Compare the full cycles of two sizes."""
        if not before:
            return
        smaller, larger = before["full"], runs["full"]
        if self.plan.wants("B2"):
            per_resource = [
                [each["cpu"] / each["judged"] for each in found] for found in (larger, smaller)
            ]
            yield self.figure("B2", size, ratios(*per_resource))
        if self.plan.wants("B4"):
            peaks = [[each["peak"] for each in found] for found in (larger, smaller)]
            yield self.figure("B4growth", size, ratios(*peaks))

    def enqueue(self) -> Iterator[Figure]:
        """Compare putting work into a queue of few and of many."""
        few, many = self.plan.pending
        self.progress(f"{many:,} preparing", 0, 0)
        self.database.create("bare")
        self.run("bare", "load", size=many + self.plan.enqueued, bare=True)
        speeds: dict[int, list[float]] = {few: [], many: []}
        for number in range(self.plan.pairs):
            for pending in (few, many):
                self.progress(f"{pending:,} pending", number + 1, self.plan.pairs)
                items = self.plan.enqueued
                found = self.on_copy("bare", "enqueue", pending=pending, items=items)
                speeds[pending].append(found["items"] / found["cpu"])
        self.drop("bare", "run")
        yield self.figure("B5", many, ratios(speeds[many], speeds[few]))

    def edits(self) -> Iterator[Figure]:
        """Let a person work beside full cycles."""
        size = self.plan.edited
        self.prepare(size)
        runs = []
        for number in range(self.plan.pairs):
            self.progress(f"{size:,} edits", number + 1, self.plan.pairs)
            runs.append(self.on_copy("changed", "edit", cycle=wider.task("full")))
        yield from wider.decisions(self)
        self.drop("settled", "changed", "run")
        for name, state, share in (
            ("B9idle", "idle", 0.99),
            ("B9", "busy", 0.99),
            ("B9max", "busy", 1.0),
        ):
            yield self.figure(
                name, size, [wider.percentile(each[state], share) * 1e3 for each in runs]
            )

    def on_copy(self, source: str, task: str, **arguments: Any) -> Found:
        """Run a task on a fresh copy."""
        self.database.copy(source, "run")
        return self.run("run", task, **arguments)

    def run(self, name: str, task: str, **arguments: Any) -> Found:
        """Run a task in a process of its own."""
        left_out = {"DATABASE_URL", "REDIS_URL"}
        environment = {key: value for key, value in os.environ.items() if key not in left_out} | {
            "DATABASE_URL": self.database.url(name),
            "DJANGO_SETTINGS_MODULE": "ioa_site.settings",
            "IOA_DATA_DIR": str(self.folder),
            # It is the product that is measured, not its patience.
            "IOA_API_RATE": "1000000",
        }
        if self.database.redis:
            environment["REDIS_URL"] = self.database.redis
        done = subprocess.run(
            wider.task(task, arguments), cwd=ROOT, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["It said nothing."]
            raise Failed(f"{task} on {self.database.name} failed: {said[-1]}")
        found: Found = orjson.loads(done.stdout.splitlines()[-1])
        return found

    def drop(self, *names: str) -> None:
        """Take databases away that are no longer needed."""
        for name in names:
            self.database.drop(name)

    def figure(self, name: str, size: int, values: Sequence[float]) -> Figure:
        """Put a figure together."""
        return Figure(name, self.database.name, size, tuple(values))


def cpu(runs: Sequence[Found]) -> list[float]:
    """Return the CPU seconds of runs."""
    return [each["cpu"] for each in runs]


def ratios(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Divide pair by pair."""
    return [one / other for one, other in zip(first, second, strict=True)]
