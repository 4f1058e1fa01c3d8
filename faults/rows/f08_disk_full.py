"""F8: the disk of an SQLite file is full."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.alone import Alone, alone
from faults.run import Minimum, Row, Run

MEGABYTES = 48
REFUSED = (503, 507)


def act(run: Run) -> None:
    """Fill the disk, use the product, make room again."""
    with small_disk() as folder:
        if folder is None:
            run.missing = "No small disk can be mounted here: that needs root."
            return
        with alone(folder) as product:
            fill_and_use(run, product, folder)
            if "Traceback" in product.product.said():
                run.breach("The product printed a trace.")


def fill_and_use(run: Run, product: Alone, folder: Path) -> None:
    """Write until nothing fits, look around, and go on when there is room."""
    kept = {number for number in range(5) if product.write(number).is_success}
    filler = folder / "filler"
    fill(filler)
    answers = [product.write(number) for number in range(100, 140)]
    refused = [each for each in answers if each.status_code in REFUSED]
    run.strike(len(refused))
    kept |= {100 + number for number, each in enumerate(answers) if each.is_success}
    others = {each.status_code for each in answers if not each.is_success} - set(REFUSED)
    if others:
        run.breach(f"Writing on a full disk was answered {sorted(others)}.")
    if refused and "disk" not in refused[-1].text:
        run.breach(f"The answer does not say that the disk is full: {refused[-1].text[:200]}")
    if (seen := product.read().status_code) != 200:
        run.breach(f"A page was answered {seen} while the disk was full.")
    filler.unlink()
    if (again := product.write(200).status_code) not in (200, 201):
        run.breach(f"With room again, writing was answered {again}.")
    lost = {f"yard-{number}" for number in kept} - product.stored()
    if lost or not product.whole():
        run.breach(f"The file is not whole; {len(lost)} acknowledged writes are gone.")
    run.done = f"{len(refused)} of {len(answers)} writes refused, pages read, then writing went on"


def fill(file: Path) -> None:
    """Leave nothing free."""
    with file.open("wb", buffering=0) as out:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    out.write(b"x" * size)
            except OSError:
                continue


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """Mount a disk of a few megabytes, where that is allowed."""
    folder = Path(tempfile.mkdtemp(prefix="ioa-faults-"))
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    size = f"size={MEGABYTES}m"
    try:
        if os.geteuid() != 0 or mount is None or unmount is None:
            yield None
            return
        command = [mount, "-t", "tmpfs", "-o", size, "tmpfs", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield folder
        finally:
            subprocess.run([unmount, "-l", str(folder)], capture_output=True, check=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


ROW = Row(
    "F8",
    "the disk of the SQLite file is full",
    "writes are refused in words, pages are read, nothing is corrupt, then it goes on",
    act,
    minimum=Minimum(0, 0, 0, 0, 0, 10),
    needs="nothing",
)
