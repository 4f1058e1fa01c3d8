"""F18: workers are frozen for longer than their leases and permits, and then go on."""

from __future__ import annotations

import signal
import time

from faults.run import Minimum, Row, Run

# Longer than the lease of an execution (30 s) and the permit of a call (10 s).
FROZEN_SECONDS = 34.0
UNUSED = """
    SELECT count(*) FROM resources_ledgerevent
    WHERE event IN ('proposal.stopped', 'proposal.freed') AND at > to_timestamp(%s)
"""
# Where a worker sleeps longer than its permit lasts.
PLACES = ("after the claim commits", "before the call", "before the result")


def act(run: Run) -> None:
    """Freeze two of three, and let others sleep between their permit and their call."""
    slow = [run.place.program(f"slow-{n}", "worker", IOA_FAILPOINT=f"{place}:sleep")
            for n, place in enumerate(PLACES)]  # fmt: skip
    for each in slow:
        each.start()
        run.strike()
    try:
        with run.traffic():
            for _ in range(1 if run.quick else 5):
                freeze(run)
    finally:
        for each in slow:
            each.end()
    late = run.place.query(UNUSED, run.since)[0][0]
    run.done = (
        f"two workers frozen for {FROZEN_SECONDS:g} s, three asleep at their places;"
        f" {late} permits ran out unused"
    )


def freeze(run: Run) -> None:
    """Stop two workers as they are, and let them go on later."""
    frozen = run.random.sample(run.place.workers, 2)
    time.sleep(3)
    for each in frozen:
        each.send(signal.SIGSTOP)
        run.strike()
    time.sleep(FROZEN_SECONDS)
    for each in frozen:
        each.send(signal.SIGCONT)
    time.sleep(3)


ROW = Row(
    "F18",
    "workers are frozen beyond lease and permit",
    "an old fence writes nothing, and no call begins after its permit",
    act,
    quick=40,
    minimum=Minimum(actions=150, decisions=20, effects=8, calls=3, pauses=3, faults=5),
)
