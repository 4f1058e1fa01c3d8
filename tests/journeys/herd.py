"""A herd of agents that report all at once, and a log of what they were answered."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import httpx

from tests.journeys.product import Product

API = "/api/v1"
WORKERS = 16
# Every fifth report comes with others, so many in one request to `observations`.
BATCH = 5
ROUND = 25
PATIENCE = 60
HEAD = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: meadow}
spec: {purpose: Where the herd is}
"""
AGENT = """---
apiVersion: ioa.dev/v0.2
kind: Agent
metadata: {{name: {}}}
spec: {{domain: meadow, type: supervised, purpose: Reports}}
"""
ISSUE = """
import sys
from datetime import timedelta
import django
django.setup()
from django.utils import timezone
from resources.usecases import tokens
from resources.documents.actor import Actor
for name in sys.argv[1:]:
    made = tokens.issue(
        name,
        scopes=["resources:read", "status:write"],
        lifetime=timedelta(hours=1),
        actor=Actor("person", "admin"),
        now=timezone.now(),
    )
    print(made.text)
"""


class Report(NamedTuple):
    """What is sent in one request: figures of one agent, the last of which counts."""

    agent: str
    figures: tuple[int, ...]

    @property
    def batched(self) -> bool:
        """Whether it goes to `observations`."""
        return len(self.figures) > 1


class Accepted(NamedTuple):
    """A report that was taken: the version it led to, and the figure that it left."""

    agent: str
    version: int
    figure: int


def declare(product: Product, names: list[str]) -> dict[str, str]:
    """Declare agents, and return a token for each."""
    documents = HEAD + "".join(AGENT.format(each) for each in names)
    done = product.run("apply", "-f", "-", text=documents)
    assert done.returncode == 0, done.stdout + done.stderr
    settings = {"DJANGO_SETTINGS_MODULE": "ioa_site.settings"}
    issued = subprocess.run(
        [sys.executable, "-P", "-c", ISSUE, *names],
        env=product.environment | settings,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return dict(zip(names, issued.stdout.split(), strict=True))


def reports(names: list[str], count: int, at_once: int) -> Iterator[Report]:
    """Yield requests with so many reports in all, for a few agents at a time."""
    numbers, each = itertools.count(1), count // len(names)
    for first in range(0, len(names), at_once):
        group = names[first : first + at_once]
        for _ in range(0, each, ROUND):
            yield from (Report(name, tuple(itertools.islice(numbers, BATCH))) for name in group)
            for _ in range(ROUND - BATCH):
                yield from (Report(name, (next(numbers),)) for name in group)


def status(figure: int) -> dict[str, Any]:
    """Return a status in which everything says the same number."""
    return {"queueLength": figure, "lastTask": f"task-{figure}"}


class Herd:
    """Sends reports over many connections, and writes down every answer."""

    def __init__(self, product: Product, tokens: dict[str, str]) -> None:
        self.base, self.tokens = product.base, tokens
        self.accepted: list[Accepted] = []
        self.answers: Counter[int] = Counter()
        self.wrong: list[str] = []
        self.refused: deque[Report] = deque()
        self.waits: list[int] = []
        self.lock = threading.Lock()

    def run(self, wanted: Iterable[Report], *, obeying: bool) -> float:
        """Send everything, waiting as told or not; return how long it took."""
        queue, begun = deque(wanted), time.monotonic()
        with ThreadPoolExecutor(WORKERS) as threads:
            for each in [threads.submit(self.work, queue, obeying) for _ in range(WORKERS)]:
                each.result()
        return time.monotonic() - begun

    def work(self, queue: deque[Report], obeying: bool) -> None:
        """Send one report after the other until there are no more."""
        with httpx.Client(base_url=self.base, timeout=PATIENCE) as line:
            while True:
                try:
                    report = queue.popleft()
                except IndexError:
                    return
                answer = self.send(line, report)
                while obeying and answer.status_code == 429:
                    time.sleep(int(answer.headers["Retry-After"]))
                    answer = self.send(line, report)
                if answer.status_code == 429:
                    self.refused.append(report)

    def send(self, line: httpx.Client, report: Report) -> httpx.Response:
        """Send one request and write down what was answered."""
        headers = {"Authorization": f"Bearer {self.tokens[report.agent]}"}
        if report.batched:
            named = {"kind": "Agent", "name": report.agent}
            items = [{**named, "status": status(each)} for each in report.figures]
            answer = line.post(f"{API}/observations", json={"items": items}, headers=headers)
        else:
            headers["Content-Type"] = "application/merge-patch+json"
            path = f"{API}/resources/agent/{report.agent}/status"
            body = json.dumps(status(report.figures[0]))
            answer = line.patch(path, content=body, headers=headers)
        with self.lock:
            self.note(report, answer)
        return answer

    def note(self, report: Report, answer: httpx.Response) -> None:
        """Keep what an answer says; anything but taken or later is wrong."""
        self.answers[answer.status_code] += 1
        if answer.status_code == 429:
            self.waits.append(int(answer.headers["Retry-After"]))
        elif answer.status_code != 200:
            self.wrong.append(f"{answer.status_code} {answer.text[:300]}")
        else:
            self.accepted.append(Accepted(report.agent, *self.read(report, answer)))

    def read(self, report: Report, answer: httpx.Response) -> tuple[int, int]:
        """Return the version and the figure that an accepted report led to."""
        body, figure = answer.json(), report.figures[-1]
        if not report.batched:
            if (body["queueLength"], body["lastTask"]) != (figure, f"task-{figure}"):
                self.wrong.append(f"{report} was answered with {body}")
            return int(answer.headers["ETag"].strip('"')), figure
        if {each["verdict"] for each in body["items"]} != {"changed"}:
            self.wrong.append(f"{report} was answered with {body}")
        return int(body["items"][-1]["resourceVersion"]), figure

    def later(self) -> list[Report]:
        """Return what was told to come later, mixed: nobody waits for one agent's bucket alone."""
        mixed = [*self.refused]
        random.Random(7).shuffle(mixed)  # noqa: S311
        self.refused.clear()
        return mixed

    def last(self) -> dict[str, int]:
        """Return the last figure of each agent that was taken, by the versions of the answers."""
        newest: dict[str, Accepted] = {}
        for each in self.accepted:
            if each.agent not in newest or newest[each.agent].version < each.version:
                newest[each.agent] = each
        return {name: each.figure for name, each in newest.items()}


class Person(threading.Thread):
    """Somebody who loads pages again and again, and presses pause in the middle."""

    def __init__(self, client: httpx.Client, pages: tuple[str, ...]) -> None:
        super().__init__()
        self.client, self.pages = client, pages
        self.times: dict[str, list[float]] = {each: [] for each in (*pages, "pause")}
        self.wrong: list[str] = []
        self.stopping = threading.Event()

    def __enter__(self) -> Person:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stopping.set()
        self.join(PATIENCE)

    def run(self) -> None:
        """Look until told to stop; the second time around, press pause."""
        for turn in itertools.count():
            for page in self.pages:
                self.timed(page, partial(self.client.get, page))
            if turn == 1:
                self.timed("pause", self.pause)
            if turn > 1 and self.stopping.is_set():
                return

    def pause(self) -> httpx.Response:
        """Press pause as the page's form does."""
        token = {"csrfmiddlewaretoken": self.client.cookies["csrftoken"]}
        typed = {"reason": "Too much at once.", "lasts": "open"}
        return self.client.post("/pause", data=token | typed)

    def timed(self, name: str, ask: Callable[[], httpx.Response]) -> None:
        """Ask, and write down how long the answer took."""
        begun = time.monotonic()
        try:
            answer = ask()
        except httpx.HTTPError as error:
            self.wrong.append(f"{name}: {error!r}")
            return
        self.times[name].append(time.monotonic() - begun)
        if answer.status_code != 200:
            self.wrong.append(f"{name}: {answer.status_code}")
