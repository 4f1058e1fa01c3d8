"""F5: Redis is down, and then worse: it takes connections and never answers."""

from __future__ import annotations

import signal
import time

from faults.calling import Ask, Caller
from faults.history import moment
from faults.run import Minimum, Row, Run
from faults.timing import latencies, percentile

# What anybody may wait longer than while Redis is there, on a machine that is busy anyway.
TIMES, MORE_SECONDS = 2.0, 1.0
WHAT = ("page", "decide", "pause", "resume")


def act(run: Run) -> None:
    """Take Redis away, then freeze it; people sign in, look, decide and stop meanwhile."""
    redis = run.place.redis
    with run.traffic():
        time.sleep(run.seconds / 3)
        away = moment()
        redis.stop(signal.SIGTERM)
        run.strike()
        sign_in(run, "vera")
        time.sleep(run.seconds / 3)
        redis.start()
        redis.send(signal.SIGSTOP)
        run.strike()
        sign_in(run, "odile")
        time.sleep(run.seconds / 3)
        redis.send(signal.SIGCONT)
        back = moment()
        time.sleep(2)
    judge(run, away, back)


def judge(run: Run, away: float, back: float) -> None:
    """Nobody waits for Redis: neither one that is gone nor one that never answers."""
    before = [each for each in run.lines() if each["began"] < away]
    during = [each for each in run.lines() if away <= each["began"] < back]
    usual, slow = latencies(before, *WHAT), latencies(during, *WHAT)
    for share, name in ((0.5, "half"), (0.9, "90 of 100")):
        bound = TIMES * percentile(usual, share) + MORE_SECONDS
        if percentile(slow, share) > bound:
            run.breach(
                f"{name} took {percentile(slow, share):.1f} s, and {bound:.1f} s is enough."
            )
    run.done = (
        f"{run.seconds / 3:g} s down, {run.seconds / 3:g} s frozen; answers took"
        f" {percentile(usual, 0.9):.2f} s before and {percentile(slow, 0.9):.2f} s (90 of 100)"
    )


def sign_in(run: Run, name: str) -> None:
    """Let somebody in who was not there before."""
    client = run.place.person(name)
    found = Caller(name, client, run.place.clients).act(Ask("page", "GET", "/approvals"))
    if not found.good:
        run.breach(f"{name} could not sign in: {found.status}.")


ROW = Row(
    "F5",
    "Redis is down, then frozen",
    "people sign in, look, decide and stop as fast as ever",
    act,
    quick=18,
    thorough=600,
    minimum=Minimum(actions=80, decisions=15, effects=8, calls=3, pauses=2, faults=2),
)
