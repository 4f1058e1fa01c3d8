"""F15: a deploy in the middle: every process is told to end, one after the other, under load."""

from __future__ import annotations

import signal
import time

from faults.checker import failed_actions
from faults.history import busyness, moment
from faults.programs import Program
from faults.run import Minimum, Row, Run

EVERY_SECONDS = 20.0
LONGEST_END = 12.0


def act(run: Run) -> None:
    """Restart everything every twenty seconds; nobody who tries once more notices."""
    with run.traffic():
        for left in run.until():
            began = moment()
            for each in (*run.place.webs, *run.place.workers, *run.place.beats):
                replace(run, each)
            time.sleep(max(0.0, min(left, EVERY_SECONDS - (moment() - began))))
    failed = list(failed_actions(run.lines()))
    for sentence in failed[:3]:
        run.breach(sentence)
    run.done = f"{run.faults} processes restarted, {len(failed)} failed actions"


def replace(run: Run, program: Program) -> None:
    """End one process as a deploy does, and wait until the next one is at work."""
    process, began = program.process, moment()
    assert process is not None
    program.send(signal.SIGTERM)
    process.wait(60)
    if moment() - began > LONGEST_END * busyness():
        run.breach(f"{program.name} took {moment() - began:.0f} s to end.")
    if process.returncode != 0:
        run.breach(f"{program.name} ended with {process.returncode}.")
    deadline = moment() + 60
    while program.process is process and moment() < deadline:
        time.sleep(0.05)
    if program.arguments[0] != "beat":
        program.wait_until_ready()
    run.strike()


ROW = Row(
    "F15",
    "all processes are restarted one after the other under load, again and again",
    "no action of a user fails after one more try; processes end in time",
    act,
    quick=30,
    thorough=600,
    minimum=Minimum(actions=150, decisions=30, effects=15, calls=5, pauses=5, faults=6),
)
