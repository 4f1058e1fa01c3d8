"""F22: others take the processors; leases must outlast that."""

from __future__ import annotations

import os
import subprocess
import sys

from faults.run import Minimum, Row, Run

LOST = """
    SELECT count(*) FROM controllers_cycle
    WHERE outcome = 'lost' AND started_at > to_timestamp(%s)
"""
RETRIED = """
    SELECT count(*) FROM resources_ledgerevent
    WHERE event = 'proposal.freed' AND payload::text LIKE '%%worker was lost%%'
      AND at > to_timestamp(%s)
"""


def act(run: Run) -> None:
    """Burn every processor twice over, and make the workers the last to be served."""
    with run.traffic():
        burners = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(2 * (os.cpu_count() or 1))
        ]
        try:
            for each in run.place.workers:
                os.setpriority(os.PRIO_PROCESS, each.pid, 10)
            run.strike(len(burners))
            run.last()
        finally:
            for burner in burners:
                burner.kill()
                burner.wait()
        if os.geteuid() == 0:
            for each in run.place.workers:
                os.setpriority(os.PRIO_PROCESS, each.pid, 0)
    lost = run.place.query(LOST, run.since)[0][0]
    lost += run.place.query(RETRIED, run.since)[0][0]
    if lost:
        run.breach(f"{lost} leases were lost although their workers lived.")
    run.done = f"{run.faults} burning processes for {run.seconds:g} s, {lost} leases lost"


ROW = Row(
    "F22",
    "the processors are taken by others",
    "slow, but no lease is lost",
    act,
    quick=8,
    minimum=Minimum(actions=25, decisions=4, effects=2, calls=1, pauses=1, faults=2),
)
