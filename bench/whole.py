"""Everything at once, as a large place has it: many controllers, reports without end, open pages.

Two workers and two web processes of the real product on PostgreSQL and Redis; what is measured is
whether every controller still gets its turn, and how long a person waits for a page.
"""

from __future__ import annotations

import asyncio
import http.client
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone
from django.utils.crypto import get_random_string

from bench import crowd, world
from bench.meter import Readings
from bench.subjects import gather_statistics, work
from controllers.models import Cycle
from ioa_site.server.web_server import many_files
from resources.tables.models import Resource

# How many reports go into one request, as a gateway of agents sends them, and how many there are.
TOGETHER, GATEWAYS = 30, 4
INTERVAL_SECONDS = 60.0
WARM_SECONDS = 90.0
PATIENCE = 60.0
FOUND = http.HTTPStatus.FOUND


def settle(domains: int) -> Readings:
    """Give each domain a controller, and let each look at everything once."""
    world.DOMAINS = domains
    world.divide()
    work(timezone.now())
    gather_statistics()
    return {}


def whole(guests: int, rate: int, seconds: float, port: int) -> dict[str, Any]:
    """Run it all for a while, and say how late anything was."""
    many_files()
    operator = crowd.signed_in("Operators")
    with crew(port):
        asyncio.run(crowd.answering(port))
        reports = Reports(port, operator, rate)
        waits = asyncio.run(watched(port, operator, guests, reports, seconds))
        reports.stop()
    return {
        "late": lateness(reports.began),
        "reports": reports.taken / reports.seconds,
        "waits": waits["pages"],
        "deaf": waits["deaf"],
        "cycles": Cycle.objects.filter(started_at__gte=reports.began).count(),
    }


@contextmanager
def running(*arguments: str) -> Iterator[None]:
    """Run a command of the product beside this process."""
    command = [sys.executable, "-m", "ioa_site.cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ) as process:
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def crew(port: int) -> Iterator[None]:
    """Run a web process and a worker for each core."""
    web = ("web", "--port", str(port), "--share-port")
    with running(*web), running(*web), running("worker"), running("worker"), running("beat"):
        yield


async def watched(
    port: int, session: str, guests: int, reports: Reports, seconds: float
) -> dict[str, Any]:
    """Open pages, wait until all is warm, and then look at a page every second."""
    cookie = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}
    since = await asyncio.to_thread(crowd.newest)
    async with crowd.opened(port, guests, cookie, since) as pages:
        await asyncio.to_thread(visit, port, session)
        reports.start()
        await asyncio.sleep(WARM_SECONDS)
        reports.count()
        heard = [page.number for page in pages]
        until, waits = time.monotonic() + seconds, []
        while time.monotonic() < until:
            waits.append(await asyncio.to_thread(visit, port, session))
            await asyncio.sleep(1)
        deaf = sum(now.number <= then for now, then in zip(pages, heard, strict=True))
    return {"pages": waits, "deaf": deaf}


def visit(port: int, session: str) -> float:
    """Open the queue of approvals, which leads to its first; return how many seconds it took."""
    began, address = time.perf_counter(), "/approvals"
    cookie = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    status: int = FOUND
    while status == FOUND:
        line.request("GET", address, headers=cookie)
        answer = line.getresponse()
        answer.read()
        status, address = answer.status, answer.getheader("Location", address)
    line.close()
    if status != http.HTTPStatus.OK or not address.startswith("/approvals"):
        raise RuntimeError(f"The page was answered {status}, at {address}.")
    return time.perf_counter() - began


class Reports:
    """Agents that report, so many a second, through a few gateways."""

    def __init__(self, port: int, session: str, rate: int) -> None:
        self.port, self.every = port, TOGETHER / rate
        secret = get_random_string(32)
        self.headers = {
            "Cookie": f"{settings.SESSION_COOKIE_NAME}={session}; csrftoken={secret}",
            "X-CSRFToken": secret,
            "Content-Type": "application/json",
        }
        self.size = Resource.objects.filter(kind="Agent").count()
        self.taken, self.began, self.since = 0, timezone.now(), time.monotonic()
        self.stopping = threading.Event()
        self.failure: Exception | None = None
        self.threads = [
            threading.Thread(target=self.run, args=[each], daemon=True) for each in range(GATEWAYS)
        ]

    def start(self) -> None:
        """Begin."""
        for each in self.threads:
            each.start()

    def count(self) -> None:
        """Count from now on."""
        self.taken, self.began, self.since = 0, timezone.now(), time.monotonic()

    def stop(self) -> None:
        """End."""
        self.seconds = time.monotonic() - self.since
        self.stopping.set()
        for each in self.threads:
            each.join(PATIENCE)
        if self.failure is not None:
            raise self.failure

    def run(self, gateway: int) -> None:
        """Send one request after the other, as steadily as they are taken."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        every = self.every * GATEWAYS
        due = time.monotonic() + self.every * gateway
        for number in itertools.count(gateway, GATEWAYS):
            if self.stopping.wait(max(0.0, due - time.monotonic())):
                return
            due = max(due + every, time.monotonic() - 1)
            try:
                self.send(line, number)
            except (OSError, RuntimeError, http.client.HTTPException) as failure:
                # Whoever started the thread hears of it when it is stopped.
                self.failure = failure
                return

    def send(self, line: http.client.HTTPConnection, number: int) -> None:
        """Let some agents report."""
        places = [(number * TOGETHER + each) * 7919 % self.size for each in range(TOGETHER)]
        items = [
            {
                "kind": "Agent",
                "name": world.name(place),
                "status": world.status(place, again=number // GATEWAYS % 2 == 0)
                | {"queueLength": number},
            }
            for place in places
        ]
        line.request("POST", "/api/v1/observations", orjson.dumps({"items": items}), self.headers)
        answer = line.getresponse()
        found = orjson.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"The reports were answered {answer.status}.")
        self.taken += sum(each["verdict"] == "changed" for each in found["items"])


def lateness(since: datetime) -> list[float]:
    """Return, for each controller, its longest wait between two starts, in intervals."""
    started: dict[int, list[datetime]] = {}
    rows = Cycle.objects.filter(started_at__gte=since).order_by("started_at")
    for controller, at in rows.values_list("controller", "started_at"):
        started.setdefault(controller, []).append(at)
    controllers = Resource.objects.filter(kind="Controller", deleted_at=None).count()
    if len(started) < controllers:
        raise RuntimeError(f"Only {len(started)} of {controllers} controllers had a turn.")
    return [
        max((late - early).total_seconds() for early, late in itertools.pairwise([since, *each]))
        / INTERVAL_SECONDS
        for each in started.values()
    ]
