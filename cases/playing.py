"""Play cases: for every operation some that are worked out, and many that are drawn."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, product
from math import ceil
from random import Random
from threading import BoundedSemaphore, Lock, local
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from schemathesis import APIOperation, Case, GenerationMode, Response
from schemathesis.checks import load_all_checks
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig
from schemathesis.core.errors import InvalidSchema
from schemathesis.core.result import Err, Result

from cases.enlivening import Enlivening
from cases.judging import Finding, Ledger, example, judge
from cases.scene import PATIENCE, SHARES, Scene
from cases.things import Things, gather

# The share of an operation's cases that is worked out from its limits, not drawn.
WORKED_OUT = 1 / 3
# A long run comes to every operation so often, each time with other cases: one that is ended
# early has played some of all.
ROUNDS, LONG = 4, 100
TRIES = 5
# After so many cases too much of what they were to be about is gone: it is begun anew.
FRESH = 200
Operation = APIOperation[Any, Any, Any, Any]
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
# What is said while it is done: the operation, how many cases are done, and how many there are.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plan:
    """How many cases, which, and how many of them at once."""

    cases: int
    seed: int
    callers: int = 1


@dataclass
class Tally:
    """What was played, and what was found."""

    operations: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    callers: Counter[str] = field(default_factory=Counter)
    modes: Counter[str] = field(default_factory=Counter)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """How many were played."""
        return self.operations.total()

    @property
    def classes(self) -> dict[str, int]:
        """How many answers there were of each class, such as 2xx."""
        found = Counter[str]()
        for status, times in self.statuses.items():
            found[f"{status // 100}xx"] += times
        return dict(sorted(found.items()))

    def count(self, operation: str, status: int, caller: str, mode: str) -> None:
        """Count a case."""
        self.operations[operation] += 1
        self.statuses[status] += 1
        self.callers[caller] += 1
        self.modes[mode] += 1

    def find(self, finding: Finding) -> bool:
        """Count a finding, and tell whether it is the first of its sort."""
        known = self.findings.setdefault(finding.key, finding)
        known.times += known is not finding
        return known is finding


class Play:
    """The cases of one product; several may be under way at once."""

    def __init__(
        self, scene: Scene, plan: Plan, progress: Progress, tell: Callable[[Finding], None]
    ) -> None:
        self.scene, self.plan, self.progress, self.tell = scene, plan, progress, tell
        self.tally, self.sent, self.stale_at = Tally(), Counter[str](), 0
        self.ledger = Ledger(scene.admin)
        self.things = Things()
        self.welcome: dict[str, set[str]] = {}
        self.edges: dict[str, Iterator[Case[Any]]] = {}
        self.schema = description(scene, plan.seed)
        # Loaded here: a module that is first loaded by a thread can fail while cases are drawn.
        self.transport = self.schema.transport
        load_all_checks()
        self.pool, self.lock = ThreadPoolExecutor(plan.callers), Lock()
        self.room, self.own = BoundedSemaphore(2 * plan.callers), local()
        self.pending: list[Future[None]] = []

    def run(self) -> Tally:
        """Play all operations of the description; whoever ends it early gets what there is."""
        operations = [opened(each) for each in self.schema.get_all_operations()]
        most = ceil(self.plan.cases / len(operations))
        self.tally.operations.update({each.label: 0 for each in operations})
        self.edges = {each.label: worked_out(each) for each in operations}
        rounds = ROUNDS if most >= LONG else 1
        with self.pool, suppress(KeyboardInterrupt):
            for number, each in product(range(1, rounds + 1), operations):
                self.progress(each.label, self.tally.cases, most * len(operations))
                self.play_some(each, ceil(most * number / rounds), number)
        self.progress("", self.tally.cases, most * len(operations))
        return self.tally

    def play_some(self, operation: Operation, upto: int, number: int) -> None:
        """Play one operation; first there is work begun for its cases to be about."""
        if self.tally.cases >= self.stale_at:
            self.things = gather(self.scene)
            self.stale_at = self.tally.cases + FRESH
        label, played = operation.label, self.tally.operations
        for case in islice(self.edges[label], int((upto - played[label]) * WORKED_OUT)):
            self.play(case)
        self.settle()
        for again in range(TRIES):
            if (left := upto - played[label]) > 0:
                drawn = f"{self.plan.seed}/{label}/{number}/{again}"
                draw(operation, ceil(left / 2), drawn, self.play_both)
                self.settle()
        for finding in self.ledger.findings():
            self.find(finding)

    def play_both(self, case: Case[Any]) -> None:
        """Play a drawn case twice: with the body that was drawn, and with a lifelike one."""
        self.play(case.derive(), lifelike=False)
        self.play(case)

    def play(self, case: Case[Any], *, lifelike: bool = True) -> None:
        """Make a case somebody's, and hand it over to be sent."""
        label = case.operation.label
        random = Random(f"{self.plan.seed}/{label}/{self.sent[label]}")  # noqa: S311
        self.sent[label] += 1
        name = self.caller(label, random)
        mode = case.meta.generation.mode.value if case.meta else ""
        story = f"case-{self.sent.total()}-{random.randrange(16**8):08x}"
        more = Enlivening(self.things, random, lifelike=lifelike)(case, story)
        self.room.acquire()
        self.pending.append(self.pool.submit(self.finish, case, name, mode, more))

    def finish(self, case: Case[Any], name: str, mode: str, more: dict[str, str]) -> None:
        """Send a case and judge its answer; what no client can send is no case."""
        try:
            self.judge(case, self.send(case, name, more), name, mode)
        except (requests.ConnectionError, requests.Timeout) as error:
            self.find(Finding(case.operation.label, "No answer", str(error), example(case)))
        except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL):
            return
        finally:
            self.room.release()

    def judge(self, case: Case[Any], response: Response, name: str, mode: str) -> None:
        """Count a case, and find what does not hold of its answer."""
        label, status = case.operation.label, response.status_code
        with self.lock:
            self.tally.count(label, status, name, mode)
            if status not in (401, 403):
                self.welcome.setdefault(label, set()).add(name)
        for finding in judge(case, response):
            self.find(finding)
        self.ledger.note(case, response)

    def find(self, finding: Finding) -> None:
        """Keep a finding, and tell the first of its sort at once."""
        with self.lock:
            if self.tally.find(finding):
                self.tell(finding)

    def settle(self) -> None:
        """Wait for what is under way."""
        for each in self.pending:
            each.result()
        self.pending.clear()

    def caller(self, label: str, random: Random) -> str:
        """Choose who calls: half of the time somebody who was let in here before."""
        with self.lock:
            welcome = sorted(self.welcome.get(label, ()))
        if welcome and random.random() < 0.5:
            return random.choice(welcome)
        return random.choices(list(SHARES), list(SHARES.values()))[0]

    def send(self, case: Case[Any], name: str, more: dict[str, str]) -> Response:
        """Send a case with what somebody's requests carry; nothing is kept for the next."""
        caller = self.scene.callers[name]
        if not hasattr(self.own, "session"):
            self.own.session = requests.Session()
        self.own.session.cookies.clear()
        return case.call(
            session=self.own.session,
            headers={**caller.headers, **more},
            cookies=caller.cookies,
            allow_redirects=False,
        )


def description(scene: Scene, chosen: int) -> schemathesis.BaseSchema:
    """Read what the API says of itself."""
    project = ProjectConfig(
        base_url=scene.product.base,
        request_timeout=PATIENCE,
        # A feed never ends; its first event comes at once.
        max_stream_events=1,
        generation=GenerationConfig(with_security_parameters=False),
    )
    config = schemathesis.Config(seed=chosen, projects=ProjectsConfig(default=project))
    document = dict(scene.nobody.read("openapi.json"))
    return schemathesis.openapi.from_dict(document, config=config)


def opened(found: Result[Operation, InvalidSchema]) -> Operation:
    """Return an operation; one that cannot be understood ends the run."""
    if isinstance(found, Err):
        raise found.err()
    return found.ok()


def worked_out(operation: Operation) -> Iterator[Case[Any]]:
    """Yield the cases at and beyond the limits of each part of an operation."""
    yield from operation.schema.iter_coverage_cases(
        operation,
        generation_modes=list(MODES),
        generation_config=operation.schema.config.generation,
    )


def draw(operation: Operation, most: int, chosen: str, play: Callable[[Any], None]) -> None:
    """Draw cases that fit the description and cases that do not."""
    drawn = st.one_of([operation.as_strategy(generation_mode=each) for each in MODES])

    @seed(chosen)
    @settings(
        max_examples=most,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    # The number keeps an operation that can be called in few ways from being called once only.
    @given(drawn, st.integers(0, 2**63))
    def one(case: Case[Any], number: int) -> None:
        play(case)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            one()
        except HypothesisException:
            return
