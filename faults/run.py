"""One row of the matrix at work: what it may use, what it does, and what counts as enough."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Literal

import psycopg

from faults.facts import Line
from faults.history import moment
from faults.traffic import Traffic
from faults.world import World

Needs = Literal["world", "nothing"]


@dataclass(frozen=True)
class Minimum:
    """The least that has to happen during a row; a run with less shows nothing."""

    actions: int = 40
    decisions: int = 8
    effects: int = 4
    calls: int = 2
    pauses: int = 1
    # How often the fault itself has to strike.
    faults: int = 1


NONE = Minimum(0, 0, 0, 0, 0, 1)
# How many times as long a row may last on a machine that is too slow for its traffic.
LONGER = 3
EXECUTED = """
    SELECT count(*) FROM resources_ledgerevent
    WHERE event = 'proposal.executed' AND at >= to_timestamp(%s)
"""


@dataclass
class Run:
    """One row being run."""

    world: World | None
    quick: bool
    seconds: float
    random: random.Random
    tell: Callable[[str], None]
    minimum: Minimum = NONE
    # What was done, how often it struck, and what it broke.
    done: str = ""
    faults: int = 0
    breaches: list[str] = field(default_factory=list)
    # Why nothing was shown, when nothing could be.
    missing: str = ""
    counted: dict[str, int] = field(default_factory=dict)
    began: float = field(default_factory=moment)
    since: float = field(default_factory=time.time)
    ended: float = 0.0

    @cached_property
    def place(self) -> World:
        """The world, for rows that need one."""
        assert self.world is not None
        return self.world

    def traffic(self, base: str = "") -> Traffic:
        """Let everybody use the product."""
        return Traffic(self.place, self.random.randrange(2**32), base)

    def until(self, seconds: float | None = None) -> Iterator[float]:
        """Yield what is left of the given time, or of this row's until enough has happened."""
        began, wanted = moment(), self.seconds if seconds is None else seconds
        while (left := began + wanted - moment()) > 0 or (
            seconds is None and left > -LONGER * wanted and not self.enough()
        ):
            yield max(0.0, left)

    def last(self) -> None:
        """Let the time of this row pass, until enough has happened."""
        for _ in self.until():
            time.sleep(0.3)

    def enough(self) -> bool:
        """Tell whether there was as much traffic as this row needs, as far as can be seen now."""
        counted = counts(self.lines(), self.place.calls.read(), self)
        try:
            counted["effects"] = self.place.query(EXECUTED, self.since)[0][0]
        except psycopg.OperationalError:
            return False
        wanted = vars(self.minimum)
        return all(counted[name] >= wanted[name] for name in counted)

    def strike(self, times: int = 1) -> None:
        """Count a fault."""
        self.faults += times

    def breach(self, sentence: str) -> None:
        """Say what was broken."""
        if sentence not in self.breaches:
            self.breaches.append(sentence)

    def lines(self, what: str = "") -> list[Line]:
        """Return what users did during this row."""
        return [
            each
            for each in self.place.clients.read()
            if each["began"] >= self.began and (not what or each["what"] == what)
        ]


def counts(lines: list[Line], calls: list[Line], run: Run) -> dict[str, int]:
    """Count what those outside saw during a row."""
    good = [each for each in lines if 200 <= each["status"] < 300]
    until = run.ended or inf
    return {
        "actions": len(lines),
        "decisions": sum(each["what"] == "decide" for each in good),
        "pauses": sum(each["what"] == "pause" for each in good),
        "calls": sum(run.began <= each["at"] <= until for each in calls),
    }


@dataclass(frozen=True)
class Row:
    """One fault: its name in the matrix, what is done, what is expected, and how it is done."""

    name: str
    fault: str
    expected: str
    act: Callable[[Run], None]
    # How long it lasts, quickly and thoroughly; minutes given by the caller count instead.
    quick: float = 8
    thorough: float = 60
    minimum: Minimum = Minimum()
    needs: Needs = "world"
