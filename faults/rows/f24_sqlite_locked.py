"""F24: another program keeps the SQLite file locked for longer than anybody waits."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from faults.alone import Alone, alone
from faults.run import Minimum, Row, Run
from faults.timing import percentile

# The product waits for 20 s.
LOCKED_SECONDS = 24.0
SLOW_SECONDS = 3.0


def act(run: Run) -> None:
    """Lock the file as a backup tool would; people go on looking."""
    with (
        tempfile.TemporaryDirectory(prefix="ioa-faults-") as folder,
        alone(Path(folder)) as product,
    ):
        locked(run, product)
        if (again := product.write(9).status_code) not in (200, 201):
            run.breach(f"Once the lock was gone, writing was answered {again}.")
        if not product.whole():
            run.breach("The file is not whole.")


def locked(run: Run, product: Alone) -> None:
    """Keep the lock, and see what is answered meanwhile."""
    with closing(sqlite3.connect(product.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        run.strike()
        began = time.monotonic()
        with ThreadPoolExecutor(2) as pool:
            writing = [pool.submit(product.write, number) for number in range(2)]
            pages = sorted(seconds(run, product) for _ in range(10))
            time.sleep(max(0.0, LOCKED_SECONDS - (time.monotonic() - began)))
            other.execute("COMMIT")
            answers = [each.result().status_code for each in writing]
    if set(answers) - {200, 201, 503}:
        run.breach(f"Writing to a locked file was answered {answers}.")
    if percentile(pages, 0.9) > SLOW_SECONDS:
        run.breach(f"Pages took {percentile(pages, 0.9):.1f} s while the file was locked.")
    run.done = (
        f"locked for {LOCKED_SECONDS:g} s: writes answered {answers},"
        f" pages {percentile(pages, 0.9):.2f} s"
    )


def seconds(run: Run, product: Alone) -> float:
    """Open a page, and return how long that took."""
    began = time.monotonic()
    if (status := product.read().status_code) != 200:
        run.breach(f"A page was answered {status} while the file was locked.")
    return time.monotonic() - began


ROW = Row(
    "F24",
    "another program locks the SQLite file for 24 s",
    "pages are read, writes wait and are then refused in words, nothing is lost",
    act,
    minimum=Minimum(0, 0, 0, 0, 0, 1),
    needs="nothing",
)
