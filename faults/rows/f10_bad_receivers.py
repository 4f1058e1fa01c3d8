"""F10: the machine outside hangs, drips, floods, hangs up, fails and sends elsewhere."""

from __future__ import annotations

import time
from collections import Counter

from faults.history import moment
from faults.run import LONGER, Minimum, Row, Run

INSIDE = """
    SELECT count(*) FROM controllers_step
    WHERE executor = 'control-plane' AND state = 'done' AND ended_at > to_timestamp(%s)
"""
MODES = ("hang", "drip", "flood", "reset", "redirect", "error")


def act(run: Run) -> None:
    """Go through every mood; meanwhile everything else goes on."""
    with run.traffic():
        for mode in MODES:
            run.tell(f"F10 the receiver's mood is {mode}")
            run.place.receiver.mode = mode
            endure(run, mode)
        run.place.receiver.mode = "ok"
        time.sleep(2)
    heard = heard_in(run)
    run.strike(sum(mode in heard for mode in MODES))
    inside = run.place.query(INSIDE, run.since)[0][0]
    if not inside:
        run.breach("Nothing was done inside while the machine outside misbehaved.")
    moods = ", ".join(f"{mode} {heard[mode]}" for mode in MODES)
    run.done = f"calls by mood: {moods}; {inside} effects inside meanwhile"


def endure(run: Run, mode: str) -> None:
    """Stay in a mood for its share of the time, and until somebody has met it."""
    began, share = moment(), run.seconds / len(MODES)
    while moment() - began < share or (
        moment() - began < LONGER * share and mode not in heard_in(run)
    ):
        time.sleep(0.3)


def heard_in(run: Run) -> Counter[str]:
    """Count the calls of this row by the mood they met."""
    return Counter(e["mode"] for e in run.place.calls.read() if e["at"] >= run.began)


ROW = Row(
    "F10",
    "the machine outside hangs, drips, floods, resets, redirects, fails",
    "a call ends at its deadline, others go on, doubt is left to a person",
    act,
    quick=18,
    thorough=180,
    minimum=Minimum(actions=100, decisions=15, effects=5, calls=6, pauses=2, faults=5),
)
