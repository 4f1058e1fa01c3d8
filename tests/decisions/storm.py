"""A storm of pauses against busy workers, and a judge who knows nothing of how they work.

Every worker keeps its own record: the moment just before it sends each COMMIT. The person keeps
theirs: when a pause was acknowledged, when lifting it began, and how many effects the database
showed at both moments. All moments are of one monotonic clock.

An effect is a violation if its COMMIT was sent after an acknowledgement and before the lifting
that followed. That cannot see a COMMIT sent before the acknowledgement and carried out after it;
the database can: what it shows more of just before the lifting than just after the acknowledgement
was committed in between, whatever anybody's clock says.
"""

from __future__ import annotations

import sys
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import NamedTuple

from tests.resources.racing import Background

# How long a worker rests that was refused, so that it is the person who is waited for.
REST = 0.001
# How long a pause stands at least.
DWELL = 0.001
# Tries to have one effect, calling back just before its COMMIT is sent; tells whether it had.
Effect = Callable[[Callable[[], None]], bool]


@dataclass
class Worker:
    """Has effects as fast as it can, until it is told to go home."""

    effect: Effect
    over: threading.Event
    # How long it rests after an effect; one that was refused always rests.
    rest: float = 0.0
    # When each COMMIT was sent, and how often a hold was in the way.
    sent: list[float] = field(default_factory=list)
    refused: int = 0

    def run(self) -> None:
        moments: list[float] = []
        while not self.over.is_set():
            if self.effect(lambda: moments.append(time.monotonic())):
                self.sent.append(moments[-1])
                time.sleep(self.rest)
            else:
                self.refused += 1
                time.sleep(REST)


@dataclass(frozen=True)
class Paused:
    """One pause, from the wish to the lifting."""

    asked: float
    acknowledged: float
    # How many effects were visible then, and just before the lifting began.
    seen: int
    left: int
    lifting: float

    @property
    def waited(self) -> float:
        return self.acknowledged - self.asked


@dataclass(frozen=True)
class Storm:
    """Everything that was recorded."""

    pauses: list[Paused]
    workers: list[Worker]

    @property
    def effects(self) -> int:
        return sum(len(each.sent) for each in self.workers)

    @property
    def refused(self) -> int:
        return sum(each.refused for each in self.workers)

    @property
    def sent_under_a_pause(self) -> int:
        """How many COMMITs were sent after an acknowledgement and before the next lifting."""
        sent = sorted(moment for each in self.workers for moment in each.sent)
        return sum(
            bisect_left(sent, each.lifting) - bisect_right(sent, each.acknowledged)
            for each in self.pauses
        )

    @property
    def appeared_under_a_pause(self) -> int:
        """How many effects became visible after an acknowledgement and before the next lifting."""
        return sum(each.left - each.seen for each in self.pauses)

    @property
    def violated(self) -> int:
        """How many pauses were not kept."""
        sent = sorted(moment for each in self.workers for moment in each.sent)
        return sum(
            each.left != each.seen
            or bisect_left(sent, each.lifting) != bisect_right(sent, each.acknowledged)
            for each in self.pauses
        )

    @property
    def busy(self) -> int:
        """How many times something happened between a lifting and the next pause."""
        pairs = zip(self.pauses, self.pauses[1:], strict=False)
        return sum(after.seen > before.left for before, after in pairs)

    def __str__(self) -> str:
        waits = [each.waited * 1000 for each in self.pauses]
        return (
            f"{len(self.pauses)} pauses, {self.violated} not kept; {self.effects} effects, "
            f"{self.refused} refused; pause to acknowledged: median {median(waits):.1f} ms, "
            f"p99 {quantiles(waits, n=100)[98]:.1f} ms"
        )


@dataclass(frozen=True)
class Person:
    """Places and lifts pauses, and looks at the database as anybody could."""

    place: Callable[[int], int]
    lift: Callable[[int], None]
    # How many effects the database shows.
    count: Callable[[], int]

    def pause(self, number: int) -> Paused:
        asked = time.monotonic()
        key = self.place(number)
        acknowledged = time.monotonic()
        seen = self.count()
        time.sleep(DWELL)
        left = self.count()
        lifting = time.monotonic()
        self.lift(key)
        return Paused(asked, acknowledged, seen, left, lifting)


class Length(NamedTuple):
    """How long a storm lasts: so many pauses, or so long, but never less than the least."""

    pauses: int
    least: int
    seconds: float


def run(
    effects: list[Effect],
    person: Person,
    length: Length,
    *,
    between: float = 0.001,
    rest: float = 0.0,
) -> Storm:
    """Let workers and a person at each other for a while."""
    over = threading.Event()
    workers = [Worker(effect, over, rest) for effect in effects]
    found: list[Paused] = []
    with switching_often():
        running = [Background(each.run) for each in workers]
        end = time.monotonic() + length.seconds
        try:
            while len(found) < (length.pauses if time.monotonic() < end else length.least):
                found.append(person.pause(len(found)))
                time.sleep(between)
        finally:
            over.set()
            for each in running:
                each.wait()
    return Storm(found, workers)


@contextmanager
def switching_often() -> Iterator[None]:
    """Let threads take turns quickly, as processes would."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
