"""F9: the clock of a worker is wrong, by an hour and by a day, forwards and backwards.

The product's own reading of the time is moved in that process, and in no other; the clocks of the
database, of the other workers and of the suite stay right.
"""

from __future__ import annotations

import time

from faults.run import Minimum, Row, Run

HOUR, DAY = 3_600, 86_400
SHIFTS = (DAY, -DAY, HOUR, -HOUR)
# What a clock alone ended: nobody answered, and its true time had not come.
ENDED = """
    SELECT count(*) FROM resources_ledgerevent
    WHERE event IN ('proposal.lapsed', 'proposal.expired') AND id > %s
"""
LAST = "SELECT coalesce(max(id), 0) FROM resources_ledgerevent"


def act(run: Run) -> None:
    """Let workers with wrong clocks work beside right ones, and by themselves."""
    since = run.place.query(LAST)[0][0]
    others = run.place.workers[1:]
    for each in others:
        run.place.supervisor.leave(each)
    with run.traffic():
        for shift in SHIFTS if not run.quick else SHIFTS[:2]:
            wrong = run.place.program(f"shifted-{shift}", str(shift), "worker")
            wrong.module = "faults.shifted"
            wrong.start()
            wrong.wait_until_ready(30)
            run.strike()
            time.sleep(run.seconds / len(SHIFTS))
            wrong.end()
    for each in others:
        run.place.supervisor.keep(each)
    if ended := run.place.query(ENDED, since)[0][0]:
        run.breach(f"{ended} proposals lapsed or expired by a wrong clock.")
    run.done = f"{run.faults} workers with wrong clocks beside a right one"


ROW = Row(
    "F9",
    "the clock of a worker is wrong by a day or an hour",
    "nothing that is approved lapses, nothing that is over is done",
    act,
    quick=16,
    minimum=Minimum(actions=80, decisions=10, effects=5, calls=2, pauses=1, faults=2),
)
