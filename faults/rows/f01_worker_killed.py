"""F1: workers are killed at random, and at every failpoint of an execution."""

from __future__ import annotations

import signal
import time

from faults.history import moment
from faults.programs import Program
from faults.run import Minimum, Row, Run

# Around a call, around a claim, and where somebody takes over from one who died before; those of
# agents' reports are reached in web processes.
PLACES = (
    "before the call",
    "after the call",
    "before the result",
    "before the result commits",
    "after the result commits",
    "after the claim commits",
    "before the claim",
    "before the claim commits",
    "before the recovery",
    "before the recovery commits",
    "after the recovery commits",
)
AT_ONCE = 3


def act(run: Run) -> None:
    """Kill at every place while one worker goes on, and that one at random."""
    reached = dict.fromkeys(PLACES, 0)
    others = run.place.workers[1:]
    for each in others:
        run.place.supervisor.leave(each)
    with run.traffic():
        die_everywhere(run, reached)
    for each in others:
        run.place.supervisor.keep(each)
    missed = [place for place, times in reached.items() if not times]
    run.strike(sum(reached.values()))
    run.done = f"killed at {len(PLACES) - len(missed)} of {len(PLACES)} failpoints, and at random"
    if missed:
        run.done += f"; not reached: {', '.join(missed)}"


def die_everywhere(run: Run, reached: dict[str, int]) -> None:
    """Let a few workers live at a time, each until it comes to its place, and go round."""
    queue, doomed = list(PLACES), dict[str, Program]()
    often, killed = 1 if run.quick else 20, moment()
    for _ in run.until():
        while queue and len(doomed) < AT_ONCE:
            place = queue.pop(0)
            doomed[place] = mortal(run, place)
        for place, program in [*doomed.items()]:
            if not program.alive:
                reached[place] += program.wait(1) == -signal.SIGKILL
                del doomed[place]
                queue += [place] if reached[place] < often else []
        if not queue and not doomed:
            return
        if moment() - killed > 10:
            kill_the_other(run)
            killed = moment()
        time.sleep(0.2)
    for program in doomed.values():
        program.end()


def mortal(run: Run, place: str) -> Program:
    """Start a worker that ends at a place."""
    run.tell(f"F1 a worker is to die {place}")
    name = f"mortal-{place.replace(' ', '-')}"
    program = run.place.program(name, "worker", IOA_FAILPOINT=f"{place}:kill")
    program.start()
    return program


def kill_the_other(run: Run) -> None:
    """Kill the worker that is kept alive, as it is."""
    worker = run.place.workers[0]
    if worker.alive and worker.ready:
        worker.send(signal.SIGKILL)
        run.strike()


ROW = Row(
    "F1",
    "a worker is killed with -9, at random and at each failpoint",
    "nothing is lost, nothing happens twice, what nobody knows is left to a person",
    act,
    quick=60,
    thorough=900,
    minimum=Minimum(actions=100, decisions=20, effects=10, calls=5, pauses=3, faults=8),
)
