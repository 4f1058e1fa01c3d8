"""F14: pages whose browsers went to sleep: sockets that are open, and never read."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

from faults.run import Minimum, Row, Run
from faults.timing import latencies, percentile

SOCKETS, MANY = 100, 1_000
SLOWEST_SECONDS, MOST_GROWTH = 5.0, 120
KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def act(run: Run) -> None:
    """Open sockets that never read, half of them with hardly any room, and use the product."""
    wanted = SOCKETS if run.quick else MANY
    run.place.person("ines")
    before = memory(run)
    sleepers = [each for number in range(wanted) if (each := sleeper(run, number)) is not None]
    run.strike(len(sleepers))
    try:
        with run.traffic():
            run.last()
    finally:
        for each in sleepers:
            each.close()
    grown, pages = memory(run) - before, latencies(run.lines("page"), "page")
    if percentile(pages, 0.9) > SLOWEST_SECONDS:
        run.breach(f"Pages took {percentile(pages, 0.9):.1f} s beside sleeping sockets.")
    if grown > MOST_GROWTH:
        run.breach(f"The web processes grew by {grown} MB.")
    run.done = (
        f"{len(sleepers)} sockets that never read; pages {percentile(pages, 0.9):.2f} s"
        f" (90 of 100), memory +{grown} MB"
    )


def sleeper(run: Run, number: int) -> socket.socket | None:
    """Open a socket as a page does, and never read what comes."""
    cookies = run.place.sessions["ines"]
    line = socket.socket()
    if number % 2:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
    line.settimeout(15)
    head = (
        f"GET /live?page=/ HTTP/1.1\r\nHost: 127.0.0.1:{run.place.port}\r\n"
        f"Origin: {run.place.base}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n"
        f"Cookie: sessionid={cookies['sessionid']}\r\n\r\n"
    )
    with suppress(OSError):
        line.connect(("127.0.0.1", run.place.port))
        line.sendall(head.encode())
        if b" 101 " in line.recv(1_024):
            return line
    line.close()
    return None


def memory(run: Run) -> int:
    """Return the megabytes that the web processes hold."""
    pages = sum(
        int(Path(f"/proc/{each.pid}/statm").read_text().split()[1]) for each in run.place.webs
    )
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_048_576


ROW = Row(
    "F14",
    "sockets are open and never read",
    "others are served as before, memory stays bounded",
    act,
    quick=8,
    thorough=1_800,
    minimum=Minimum(faults=50),
)
