"""F20: somebody keeps a transaction open for long, and a dump runs again and again."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

from faults.run import Minimum, Row, Run
from faults.timing import latencies, percentile

# What a stop may take longer than without the long transaction, on a machine that is busy anyway.
MORE_SECONDS = 0.25


def act(run: Run) -> None:
    """Measure stops before and during."""
    before = stops(run)
    ending = threading.Event()
    with run.place.postgres.connect() as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT count(*) FROM controllers_proposal")
        dumping = threading.Thread(target=dump, args=(run, ending), daemon=True)
        dumping.start()
        during = stops(run)
        ending.set()
        dumping.join()
        connection.execute("ROLLBACK")
    usual, slow = percentile(before, 0.9), percentile(during, 0.9)
    if slow > 2 * usual + MORE_SECONDS:
        run.breach(f"A stop took {slow:.2f} s beside a long transaction, {usual:.2f} s without.")
    run.done = (
        f"{run.faults} dumps beside an open transaction; stops {usual:.2f} s, then {slow:.2f} s"
    )


def stops(run: Run) -> list[float]:
    """Let everybody work, and return how long stops took."""
    since = len(run.place.clients.read())
    with run.traffic():
        time.sleep(run.seconds / 2)
    lines = run.place.clients.read()[since:]
    return latencies(lines, "pause")


def dump(run: Run, ending: threading.Event) -> None:
    """Dump everything again and again; without the program, read every table."""
    program = run.place.postgres.binaries / "pg_dump"
    while not ending.is_set():
        if program.exists():
            command: list[str | Path] = [
                program,
                "-h",
                "127.0.0.1",
                "-p",
                str(run.place.postgres.port),
            ]
            subprocess.run(
                [*command, "-U", "postgres", "postgres"], stdout=subprocess.DEVNULL, check=True
            )
        else:
            run.place.query("SELECT count(*), max(payload::text) FROM resources_ledgerevent")
        run.strike()
        ending.wait(0.5)


ROW = Row(
    "F20",
    "a transaction stays open and dumps run",
    "a person's stop takes no longer",
    act,
    quick=12,
    minimum=Minimum(actions=80, decisions=10, effects=5, calls=2, pauses=4, faults=2),
)
