"""What an outside controller found: checked, judged by our rules, written as ours is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from controllers import operations
from controllers.decisions import holds
from controllers.engine import configuration, findings
from controllers.engine.cycle import reconcile
from controllers.engine.findings import RESERVED, Finding
from controllers.engine.terms import PLACES, Case, Controller, Snapshot, Step
from controllers.engine.watch import JudgedSnapshot
from controllers.loop import cycle_run
from controllers.loop.chunk_writer import Run
from controllers.loop.cycle_run import Piece
from controllers.worker.external_controllers import external_cycle
from controllers.worker.external_controllers.cycle_close import check_time
from controllers.workqueue import queue
from controllers.workqueue.chunk_snapshot import one_view
from controllers.workqueue.cycle_effects import Effects, Looking
from controllers.workqueue.target_store import Reader, living
from resources.documents.kind import Fault
from resources.tables.models import Resource

REASON = re.compile(r"[A-Z][A-Za-z0-9]{0,63}")
STAYS = "The drift stays as it is."
Verdict = Literal["taken", "refused", "missing", "conflict"]


class FencedCycle(NamedTuple):
    """Which cycle a report belongs to, and the fence of whoever reports."""

    number: int
    fence: int


class ProposedStep(NamedTuple):
    """A step that an outside controller would take; what it risks is in the catalogue."""

    operation: str
    parameters: Mapping[str, Any]
    why: str = ""


class Reported(NamedTuple):
    """What an outside controller says of one resource."""

    name: str
    finding: Finding
    wishes: tuple[ProposedStep, ...] = ()
    # The version it looked at; without one it means the present one.
    version: int | None = None
    # Of the condition: its own type, and what it thinks the status is.
    type: str = ""
    status: str = ""


class Heard(NamedTuple):
    """What became of one report."""

    name: str
    verdict: Verdict
    problems: tuple[Fault, ...] = ()
    case: Case | None = None
    # The version that it is true of.
    version: int | None = None


def report(
    row: Resource,
    place: FencedCycle,
    reports: Sequence[Reported],
    now: datetime,
    *,
    dry_run: bool = False,
) -> list[Heard]:
    """Take each finding that can be taken, and let everything follow from it that follows.

    In a dry run it is only said what would follow.
    """
    with external_cycle.entered(row, place.number, place.fence, now) as run:
        check_time(run, now)
        seen = look(run.controller, [each.name for each in reports])
        heard = [checked(run.controller, each, seen.get(each.name)) for each in reports]
        both = zip(reports, heard, strict=True)
        taken = [each for each, answer in both if answer.verdict == "taken"]
        cases = write(run, taken, seen, now, Looking if dry_run else Effects)
    return [each._replace(case=cases.get(each.name)) for each in heard]


def look(controller: Controller, names: Sequence[str]) -> dict[str, JudgedSnapshot]:
    """Read the resources that a controller looks after, and what it said of them before."""
    reader = Reader(controller, configuration.reads(controller))
    with one_view():
        keys = living(controller).filter(name__in=names).values_list("pk", flat=True)
        seen = list(reader.snapshots(reader.among(list(keys))))
    return {each[0].target.name: each for each in seen}


def checked(controller: Controller, report: Reported, seen: JudgedSnapshot | None) -> Heard:
    """Judge whether a report can be taken."""
    if seen is None:
        gone = f"{controller.ref} does not look after {controller.kind.lower()}/{report.name}."
        return Heard(report.name, "missing", (Fault("/resource", gone),))
    target = seen[0].target
    if report.version not in (None, target.version):
        moved = Fault("/version", f"It is at version {target.version} by now: look again.")
        return Heard(report.name, "conflict", (moved,), version=target.version)
    problems = tuple(objections(controller, report, seen[0]))
    if problems:
        return Heard(report.name, "refused", problems, version=target.version)
    return Heard(report.name, "taken", version=target.version)


def objections(controller: Controller, report: Reported, snapshot: Snapshot) -> Iterator[Fault]:
    """Yield why a report cannot be taken."""
    own, finding = controller.condition_type, report.finding
    if report.type and report.type != own:
        yield Fault("/condition/type", f"This is another's: {controller.ref} writes {own}.")
    if finding.reason and not REASON.fullmatch(finding.reason):
        yield Fault("/condition/reason", "A reason is one word in CamelCase.")
    if finding.reason in RESERVED:
        yield Fault("/condition/reason", f"{finding.reason} has a meaning of its own here.")
    yield from disagreements(controller, report, snapshot)
    for place, wish in enumerate(report.wishes):
        yield from faults(wish, snapshot, f"/actions/{place}")


def disagreements(controller: Controller, report: Reported, snapshot: Snapshot) -> Iterator[Fault]:
    """Yield where a report says something else than its own figures."""
    finding = report.finding
    drift = findings.weighed(controller, snapshot, finding)
    given = None if finding.score is None else round(finding.score, PLACES)
    if finding.dimensions and given not in (None, drift.score):
        yield Fault("/score", f"Its dimensions come to {drift.score} as they are weighed here.")
    status = "Unknown" if drift.score is None else "False" if drift.drifted else "True"
    if report.status and report.status != status:
        yield Fault("/condition/status", f"Its figures come to {status}.")
    if report.wishes and not drift.drifted:
        yield Fault("/actions", "Only what has drifted is acted on.")


def faults(wish: ProposedStep, snapshot: Snapshot, pointer: str) -> Iterator[Fault]:
    """Yield why a step cannot be planned."""
    target, known = snapshot.target, operations.find(wish.operation)
    if known is None:
        yield Fault(f"{pointer}/operation", f"Nobody knows the operation {wish.operation}.")
    elif known.kind not in ("change", "block"):
        yield Fault(f"{pointer}/operation", "Whom it tells is declared in spec.actions.")
    else:
        given = operations.check(wish.operation, dict(wish.parameters), target.kind, target.name)
        for each in given:
            yield Fault(f"{pointer}{each.pointer}", each.message)


def write(
    run: Run,
    taken: Sequence[Reported],
    seen: Mapping[str, JudgedSnapshot],
    now: datetime,
    kind: type[Effects],
) -> dict[str, Case]:
    """Put findings through the phases and write what follows, as our own cycles do."""
    if not taken:
        return {}
    sights = [seen[each.name] for each in taken]
    keys = [each[0].target.key for each in sights]
    found = {key: as_finding(each) for key, each in zip(keys, taken, strict=True)}
    effects, tally = external_cycle.means(run, kind, now), external_cycle.fresh()
    effects.holds = holds.standing(now)
    given = findings.considered(run.controller, sights, found, effects, now)
    if kind is Looking:
        looked = list(reconcile(given, tally.stopwatch))
        cases: Sequence[Case] = [each for each in looked if isinstance(each, Case)]
    else:
        items = queue.among(run.controller.key, keys, None).items
        piece = Piece(sights, len(sights), items, force=True)
        cases = cycle_run.look_at(given, piece, run, effects, tally)
        external_cycle.keep(run, tally, effects, now)
    return {each.ref.partition("/")[2]: each for each in cases}


def as_finding(report: Reported) -> Finding:
    """Return a finding with its steps as the catalogue knows them."""
    steps = tuple(step(each, report.finding.message) for each in report.wishes)
    return report.finding._replace(steps=steps)


def step(wish: ProposedStep, message: str) -> Step:
    """Write a step as the catalogue knows it; only its parameters are the controller's."""
    known = operations.find(wish.operation)
    if known is None:
        raise ValueError(f"Nobody knows the operation {wish.operation}.")
    return Step(
        operation=known.name,
        parameters=dict(wish.parameters),
        kind=known.kind,
        risk=known.risk,
        reversible=known.reversible,
        why=wish.why or message,
        otherwise=STAYS,
        touches=tuple(known.touches(wish.parameters)),
    )
