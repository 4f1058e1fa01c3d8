"""F6: PostgreSQL is restarted without being allowed to write anything down."""

from __future__ import annotations

import time

from faults.history import busyness, moment
from faults.run import Minimum, Row, Run

BACK_SECONDS = 20.0
RESTARTS = 50


def act(run: Run) -> None:
    """Restart it in a loop, and see how soon work goes on."""
    times = 3 if run.quick else RESTARTS
    with run.traffic():
        for number in range(2 * times):
            time.sleep(run.random.uniform(1.5, 3))
            if number >= times and run.enough():
                break
            run.tell(f"F6 restart {number + 1}")
            run.place.postgres.restart()
            run.strike()
            went_on(run)
        time.sleep(3)
    run.done = f"{run.faults} immediate restarts under load"


def went_on(run: Run) -> None:
    """Wait until somebody is heard and something is done again; too late is a breach."""
    began, since = moment(), len(run.place.clients.read())
    done = executed(run)
    while moment() - began < BACK_SECONDS * busyness():
        time.sleep(0.5)
        heard = any(each["status"] == 200 for each in run.place.clients.read()[since:])
        if heard and executed(run) > done:
            return
    run.breach(f"{BACK_SECONDS:g} s after PostgreSQL was back, nothing was done yet.")


def executed(run: Run) -> int:
    """Count what was carried out, and what cycles ended: the loop is at work."""
    rows = run.place.query(
        "SELECT count(*) FROM resources_ledgerevent WHERE event IN"
        " ('proposal.executed', 'controller.reconciliation-completed')"
    )
    return int(rows[0][0])


ROW = Row(
    "F6",
    "PostgreSQL is restarted with -m immediate in a loop",
    "503 while it is away, no partial transaction, workers are back within 20 s",
    act,
    quick=25,
    minimum=Minimum(actions=80, decisions=10, effects=5, calls=2, pauses=1, faults=3),
)
