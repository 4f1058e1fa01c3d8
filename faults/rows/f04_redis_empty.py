"""F4: Redis is killed, comes back empty, and is emptied while it runs."""

from __future__ import annotations

import contextlib
import signal
import time

import redis

from faults.history import busyness
from faults.run import Minimum, Row, Run
from faults.timing import late_beginnings

LATE_SECONDS = 10.0


def act(run: Run) -> None:
    """Empty it five times a second, and kill it every two seconds."""
    place = run.place
    with run.traffic():
        for _ in run.until():
            empty(run)
            place.redis.restart(signal.SIGKILL)
            run.strike()
    late = late_beginnings(run, LATE_SECONDS * busyness())
    if late:
        run.breach(f"{late} approved proposals waited more than {LATE_SECONDS:g} s to begin.")
    run.done = f"{run.faults} times emptied or killed"


def empty(run: Run) -> None:
    """Empty it again and again, for two seconds."""
    for _ in run.until(2):
        with contextlib.suppress(redis.RedisError), run.place.redis.client() as client:
            client.flushall()
            run.strike()
        time.sleep(0.2)


ROW = Row(
    "F4",
    "Redis is killed and emptied in a loop",
    "no action is lost; work begins by looking, without a ring",
    act,
    quick=12,
    minimum=Minimum(actions=80, decisions=15, effects=8, calls=3, pauses=2, faults=10),
)
