"""Run controllers from the command line, without a server or beside one."""

from __future__ import annotations

import difflib
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.db.models import F

from controllers.engine.cycle import PHASES
from controllers.engine.terms import Controller, Event
from controllers.loop import cycle_run, routing
from controllers.loop.cycle_run import Means
from controllers.models import Cycle, Judgement
from controllers.worker import controller_commands, housekeeping, worker_loop
from controllers.worker.controller_commands import Preview
from controllers.workqueue import compiled_controllers
from controllers.workqueue.cycle_effects import Effects, Notice
from controllers.workqueue.target_store import living
from ioa_site.commands import Stop
from ioa_site.server.progress import Bar
from ioa_site.server.terminal import counted, shown
from ioa_site.work import caller
from ioa_site.work.rows import live
from resources.documents.problems import refused

MOST = 40
# How long another worker is left alone before its lease is asked for again.
PAUSE_SECONDS = 0.2
GOOD = (
    Cycle.Outcome.CONVERGED,
    Cycle.Outcome.DRIFTED,
    Cycle.Outcome.ACTED,
    Cycle.Outcome.SKIPPED,
)


@dataclass(frozen=True)
class Unwell:
    """A resource that is not as declared, or not known."""

    score: str
    resource: str
    message: str


@dataclass(frozen=True)
class Act:
    """Something that was done or planned."""

    result: str
    operation: str
    target: str
    why: str


@dataclass(frozen=True)
class CycleReport:
    """What came of a cycle, or would."""

    title: str
    phases: list[tuple[str, str, str]]
    drifted: int
    unwell: tuple[Unwell, ...]
    not_shown: int
    acts: tuple[Act, ...]
    problem: str = ""


class ProgressEffects(Effects):
    """Effects that show how far the cycle has come, chunk by chunk."""

    def __init__(self, controller: Controller, bar: Bar) -> None:
        super().__init__(controller)
        self.bar, self.done, self.total = bar, 0, living(controller).count()

    def drain(self) -> tuple[list[Notice], list[Event]]:
        """Hand over what was said about a chunk; it is judged then."""
        self.done = min(self.done + cycle_run.CHUNK, self.total)
        self.bar("cycle", self.done, self.total)
        return super().drain()


def called(text: str) -> str:
    """Return the name of a controller, or say which one may have been meant."""
    name = text.removeprefix("controller/")
    names = [*live("Controller").values_list("name", flat=True)]
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]}?" if near else " `ioa get controllers` lists them."
    raise Stop(f"There is no controller {shown(name, 80)!r}.{hint}")


def everything() -> list[str]:
    """Return the names of the controllers that are run here, also of those that cannot run."""
    names = []
    for row in live("Controller").order_by("name"):
        controller = compiled_controllers.attempt((row.pk, row.generation))
        if controller is None or controller.runner == "internal":
            names.append(row.name)
    return names


def ask(name: str, reason: str) -> bool:
    """Queue a cycle; tells whether a loop is there to run it."""
    now = caller.now()
    controller_commands.request(name, actor=caller.person(), now=now, message=reason)
    return housekeeping.is_alive(housekeeping.heartbeat(), now)


def reset(name: str, reason: str) -> None:
    """Let a stopped controller try one cycle."""
    controller_commands.reset_breaker(name, actor=caller.person(), now=caller.now(), reason=reason)


def look(name: str) -> CycleReport:
    """Find out what a cycle would find and plan."""
    preview = controller_commands.preview(name, now=caller.now())
    unwell = [
        Unwell(figure(each["score"]), each["resource"], each["message"])
        for each in preview.resources[:MOST]
    ]
    return CycleReport(
        title=f"controller/{name}, dry run: nothing was changed",
        phases=phases(preview.counts, {})[:3],
        drifted=preview.counts.get("drifted", 0),
        unwell=tuple(unwell),
        not_shown=sick(preview.counts) - len(unwell),
        acts=tuple(planned(preview)),
        problem=preview.blocked,
    )


def planned(preview: Preview) -> Iterator[Act]:
    """Yield what a cycle would plan, with how far its mode would let it go."""
    for resource in preview.resources:
        for each in resource["actions"]:
            word = f"planned ({each['disposition']})"
            yield Act(word, each["operation"], each["target"], each.get("why", ""))


def run(name: str, reason: str, bar: Bar) -> CycleReport:
    """Run a cycle here, or wait for the worker that does; return what came of it."""
    last = controller_commands.request(
        name, actor=caller.person(), now=caller.now(), message=reason
    )
    with stoppable() as asked:
        means = Means(caller.now, lambda each: ProgressEffects(each, bar), asked.is_set)
        cycle = complete(name, last, means)
        if asked.is_set():
            raise KeyboardInterrupt
    return found(cycle)


def complete(name: str, last: int, means: Means) -> Cycle:
    """Run the requested cycle, unless somebody else does; return it when it has ended."""
    holder = worker_loop.worker_name()
    cycle = controller_commands.wait(name, last, seconds=0)
    while cycle is None:
        if means.stopping():
            raise KeyboardInterrupt
        row = controller_commands.find(name)
        if hindrance := controller_commands.hindrance(row):
            raise refused(hindrance)
        routing.route(means.clock())
        mine = worker_loop.run_one(row.pk, holder, means)
        cycle = controller_commands.wait(name, last, seconds=0 if mine else PAUSE_SECONDS)
    return cycle


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Let Ctrl-C end a cycle between two resources, so that its report is still written."""
    asked = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: asked.set())
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def found(cycle: Cycle) -> CycleReport:
    """Put together what a cycle came to."""
    judged = Judgement.objects.filter(controller=cycle.controller_id)
    bad = judged.exclude(status="True").select_related("resource")
    worst = bad.order_by(F("score").desc(nulls_last=True), "resource__name")[:MOST]
    unwell = [Unwell(figure(each.score), str(each.resource), each.message) for each in worst]
    seconds = ((cycle.finished_at or cycle.started_at) - cycle.started_at).total_seconds()
    word = cycle.outcome.replace("_", " ")
    return CycleReport(
        title=f"{cycle.controller}, cycle {cycle.number}: {word} ({seconds:.1f} s)",
        phases=phases(cycle.counts, cycle.times),
        drifted=judged.filter(drifted=True).count(),
        unwell=tuple(unwell),
        not_shown=bad.count() - len(unwell),
        acts=tuple(acts(cycle)),
        problem="" if cycle.outcome in GOOD else cycle.error or f"The cycle was {word}.",
    )


def acts(cycle: Cycle) -> Iterator[Act]:
    """Yield what a cycle did or planned; of a plan, how far its mode lets it go."""
    for each in cycle.actions:
        way = f" ({each['reason']})" if each["result"] == "planned" else ""
        yield Act(each["result"] + way, each["operation"], each["target"], each["why"])


def phases(counts: Mapping[str, int], times: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Say in words what each phase did, and how long it took."""
    got = Counter(counts)
    words = {
        "watch": f"{counted(got['watched'], 'resource')} read",
        "diff": f"{got['drifted']:,} drifted, {got['healthy']:,} healthy, "
        f"{got['unknown']:,} unknown",
        "plan": f"{counted(got['actions'], 'action')}, {counted(got['hooks'], 'hook')} checked",
        "act": f"{got['success']:,} done, {got['planned']:,} planned, {got['failure']:,} failed",
        "report": f"{counted(got['changed'], 'judgement')} changed",
    }
    return [(name, words[name], spent(times.get(name))) for name in PHASES]


def spent(milliseconds: float | None) -> str:
    """Write how long a phase took."""
    return "-" if milliseconds is None else f"{milliseconds:,.1f} ms"


def sick(counts: Mapping[str, int]) -> int:
    """Return how many resources are drifted or unknown."""
    return counts.get("unhealthy", 0) + counts.get("unknown", 0)


def figure(score: float | None) -> str:
    """Write a drift score."""
    return "unknown" if score is None else f"{score:.2f}"
