"""F2: the beat is dead, and nobody starts it again."""

from __future__ import annotations

from faults.history import busyness
from faults.run import Row, Run
from faults.timing import late_beginnings

LATE_SECONDS = 10.0
BEGUN = "SELECT count(*) FROM controllers_cycle WHERE started_at > to_timestamp(%s)"
INTERVAL_SECONDS = 15


def act(run: Run) -> None:
    """Take the beat away, and see that nothing waits for it."""
    beats = run.place.beats
    for each in beats:
        run.place.supervisor.leave(each)
        run.strike()
    with run.traffic():
        run.last()
    cycles = run.place.query(BEGUN, run.since)[0][0]
    if not cycles:
        run.breach(f"No cycle began in {run.seconds:g} s without a beat.")
    if late := late_beginnings(run, LATE_SECONDS * busyness()):
        run.breach(f"{late} approved proposals waited more than {LATE_SECONDS:g} s to begin.")
    for each in beats:
        run.place.supervisor.keep(each)
    run.done = f"no beat for {run.seconds:g} s: {cycles} cycles began"


ROW = Row(
    "F2",
    "no beat runs",
    "nothing is missed: workers look by themselves",
    act,
    quick=INTERVAL_SECONDS + 3,
    thorough=10 * INTERVAL_SECONDS,
)
