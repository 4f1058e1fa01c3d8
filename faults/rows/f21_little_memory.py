"""F21: a worker has hardly any memory: it may die, alone."""

from __future__ import annotations

import shutil
import time

from faults.run import Minimum, Row, Run

# Enough to start with, too little to work with for long.
LIMITS = (400, 600, 900, 1_400)
MEGABYTE = 1024 * 1024


def act(run: Run) -> None:
    """Start workers under smaller and larger limits beside the others."""
    tool = shutil.which("prlimit")
    if tool is None:
        run.missing = "There is no prlimit on this machine."
        return
    ends = []
    with run.traffic():
        for limit in LIMITS:
            worker = run.place.program(f"small-{limit}", "worker")
            worker.start((tool, f"--as={limit * MEGABYTE}"))
            time.sleep(run.seconds / len(LIMITS))
            ends.append(f"{limit} MB {'works' if worker.alive and worker.ready else 'died'}")
            worker.end()
            run.strike()
        run.last()
    run.done = ", ".join(ends)


ROW = Row(
    "F21",
    "workers run under a memory limit",
    "one that dies takes nothing with it",
    act,
    quick=12,
    minimum=Minimum(actions=80, decisions=10, effects=5, calls=2, pauses=1, faults=len(LIMITS)),
)
