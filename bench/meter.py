"""CPU and memory of a piece of work: of this process, and of the database that serves it."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
MEGABYTE = 1_048_576

Readings = dict[str, float]
Cpu = Callable[[], float]


@contextmanager
def measured(database: Cpu) -> Iterator[Readings]:
    """Fill the readings with what was used inside."""
    found: Readings = {"start": resident()}
    wall, client, server = time.perf_counter(), own(), database()
    yield found
    found["client"], found["database"] = own() - client, database() - server
    found["cpu"] = found["client"] + found["database"]
    found["wall"], found["peak"] = time.perf_counter() - wall, peak()


def own() -> float:
    """Return the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak() -> float:
    """Return the most memory this process ever held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE


def resident() -> float:
    """Return the memory this process holds now, in megabytes."""
    return int((PROC / "self/statm").read_text().split()[1]) * PAGE / MEGABYTE


def in_process() -> float:
    """Return the CPU seconds of a database that runs inside this process."""
    return 0.0


def of_server(backend: int) -> Cpu:
    """Measure a PostgreSQL server, found as the parent of one of its backends."""
    server = int(times(backend)[1])
    return lambda: total(server)


def total(server: int) -> float:
    """Add up the server, its living processes, and those that have ended."""
    ticks = sum(map(int, times(server)[11:15]))
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                found = times(int(entry.name))
            except OSError:
                continue
            if int(found[1]) == server:
                ticks += int(found[11]) + int(found[12])
    return ticks / TICKS


def times(process: int) -> list[str]:
    """Read what Linux tells of a process, from its state on; its name may hold anything."""
    return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
