"""Try a rule against history: which proposals appear or vanish, and whom it contradicts.

Nothing is written. What is read is bounded in rows and time, and the answer says how far back it
reaches and what could not be replayed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from controllers.common.rows import read
from controllers.decisions import gate_facts
from controllers.engine import configuration, gate, replay
from controllers.engine.replay import Point, Replayed
from controllers.engine.terms import Controller
from controllers.models import DriftSample, Proposal
from resources.documents import validation
from resources.documents.differences import compare, merge
from resources.documents.kind import Document
from resources.documents.problems import invalid, wrong
from resources.store.snapshots import assemble, ordered_metadata
from resources.tables.models import Resource

MOST_POINTS, MOST_PROPOSALS, SHOWN = 20_000, 2_000, 50
SECONDS = 5.0
# What of a controller's spec can be tried on what is kept.
REPLAYED = (
    "/driftThreshold",
    "/drift/weights",
    "/drift/dimensionThresholds",
    "/drift/aggregation",
    "/enforcementMode",
    "/approval",
)
YES, NO = ("approve", "break_glass"), ("reject", "accept", "override", "undo")


class Appears(NamedTuple):
    """Something that would have been proposed and was not."""

    resource: str
    at: datetime
    score: float


class Changed(NamedTuple):
    """A proposal that would not have been made, or not have been decided by people."""

    proposal: int
    resource: str
    at: datetime
    answer: str
    decided_by: str
    # Why that contradicts what a person said; empty when it does not.
    contradicts: str = ""


@dataclass
class Replay:
    """What a rule would have changed, how far back that is known, and what is not."""

    controller: str
    points: int = 0
    proposals: int = 0
    resources: int = 0
    since: datetime | None = None
    appears: list[Appears] = field(default_factory=list)
    vanishes: list[Changed] = field(default_factory=list)
    # What people were asked and would have run, or the other way round.
    unasked: list[Changed] = field(default_factory=list)
    asked: list[Changed] = field(default_factory=list)
    # In words: what could not be replayed.
    limits: list[str] = field(default_factory=list)

    @property
    def contradictions(self) -> list[Changed]:
        """The decisions of people that it would have contradicted."""
        return [each for each in (*self.vanishes, *self.unasked) if each.contradicts]


def wanted(
    threshold: float | None = None,
    weights: Mapping[str, float] | None = None,
    spec: Document | None = None,
) -> Document:
    """Put what somebody wants to try together as a merge patch of the spec."""
    patch: Document = dict(spec or {})
    if threshold is not None:
        patch["driftThreshold"] = threshold
    if weights:
        patch = merge(patch, {"drift": {"weights": dict(weights)}})
    return patch


def run(row: Resource, patch: Document, now: datetime) -> Replay:
    """Try a changed spec of a controller against what is kept of its past."""
    spec = merge(row.spec, patch)
    pointers = [each.pointer for each in compare(row.spec, spec)]
    if not pointers:
        raise invalid("Nothing would be different: change a threshold, a weight or a rule.")
    controller = tried(row, spec)
    found = Replay(str(row))
    found.limits += [
        f"spec{each.replace('/', '.')} is not replayed: what it would have led to is not kept."
        for each in pointers
        if each != "/drift" and not each.startswith(REPLAYED)
    ]
    deadline = time.monotonic() + SECONDS
    points = replayed(row, controller, found, deadline)
    if not points and not found.proposals:
        found.limits.append("No drift of it is kept yet, so nothing can be said.")
    weigh_appearing(points, found)
    weigh_proposals(row, controller, points, found, deadline, now)
    return found


def tried(row: Resource, spec: Document) -> Controller:
    """Compile the controller as it would be; what does not fit is refused with its place."""
    document = assemble(row.kind, ordered_metadata(row.name, row.metadata), spec, {})
    faults = [
        each
        for each in validation.check(document)
        if each.severity == "error" and each.pointer.startswith("/spec")
    ]
    if faults:
        raise wrong(faults)
    (value,) = read(Resource.objects.filter(pk=row.pk))
    try:
        return configuration.read(value._replace(spec=spec))
    except configuration.Invalid as error:
        raise invalid(str(error)) from error


def replayed(
    row: Resource, controller: Controller, found: Replay, deadline: float
) -> dict[int, list[Replayed]]:
    """Weigh every point that is kept anew, the latest first, until it is enough."""
    columns = ("resource_id", "at", "score", "drifted", "dimensions")
    rows = DriftSample.objects.filter(controller=row).order_by("-at", "-pk")
    kept: dict[int, list[Point]] = defaultdict(list)
    unknown = 0
    for key, *given in rows.values_list(*columns)[: MOST_POINTS + 1].iterator():
        if found.points == MOST_POINTS or late(found, deadline):
            found.limits.append(f"Only the latest {found.points:,} points were gone through.")
            break
        point = Point(*given)
        found.points, found.since = found.points + 1, point.at
        unknown += point.score is None
        kept[key].append(point)
    if unknown:
        found.limits.append(f"Of {unknown:,} points nobody knew the drift: they stay as they are.")
    found.resources = len(kept)
    return {key: replay.replayed(controller, reversed(points)) for key, points in kept.items()}


def late(found: Replay, deadline: float) -> bool:
    """Tell, every so often, whether the time is over."""
    return found.points % 500 == 0 and time.monotonic() > deadline


def weigh_appearing(points: Mapping[int, list[Replayed]], found: Replay) -> None:
    """Find the drifts that the new rule sees and the old one did not."""
    new = [
        (key, each)
        for key, line in points.items()
        for each in replay.episodes(line)
        if not each.known
    ]
    names = {row.pk: str(row) for row in Resource.objects.filter(pk__in={key for key, _ in new})}
    found.appears = sorted(
        (Appears(names.get(key, "gone"), each.began, each.score) for key, each in new),
        key=lambda each: each.at,
        reverse=True,
    )


def weigh_proposals(
    row: Resource,
    controller: Controller,
    points: Mapping[int, list[Replayed]],
    found: Replay,
    deadline: float,
    now: datetime,
) -> None:
    """Hold each proposal that was made against the new rule."""
    unknown = 0
    for proposal in history(row, found):
        if time.monotonic() > deadline:
            found.limits.append(
                f"Only {found.proposals:,} proposals were held against it in time."
            )
            break
        found.proposals += 1
        point = replay.at(points.get(proposal.resource_id, []), proposal.created_at)
        if point is None or point.score is None:
            unknown += 1
        elif not point.after:
            found.vanishes.append(changed(proposal, missed(proposal)))
            continue
        weigh_word(proposal, controller, found, now)
    if unknown:
        found.limits.append(
            f"Of {unknown:,} proposals the drift they rest on is no longer kept: whether they"
            " would vanish is not known."
        )


def history(row: Resource, found: Replay) -> Iterator[Proposal]:
    """Read the proposals of a controller, the latest first."""
    rows = Proposal.objects.filter(controller=row, proposer=str(row)).order_by("-pk")
    near = rows.select_related("resource").defer("resource__status", "evidence", "basis")
    kept = list(near[: MOST_PROPOSALS + 1])
    if len(kept) > MOST_PROPOSALS:
        found.limits.append(f"Only the latest {MOST_PROPOSALS:,} proposals were held against it.")
    yield from kept[:MOST_PROPOSALS]


def weigh_word(proposal: Proposal, controller: Controller, found: Replay, now: datetime) -> None:
    """Say whether people would have been asked, where that is not what happened."""
    questions = [
        gate_facts.question(proposal, each, controller, (), now) for each in proposal.actions
    ]
    words = [gate.by_mode(each).word for each in questions]
    word = max(words, key=gate_facts.STRICTNESS.index, default="record")
    if word == "run" and proposal.lane != "run":
        said_no = proposal.answer in NO
        why = "It would have run; a person said no." if said_no else ""
        found.unasked.append(changed(proposal, why))
    elif word != "run" and proposal.lane == "run":
        found.asked.append(changed(proposal))


def missed(proposal: Proposal) -> str:
    """Say whether a person wanted what would not have been proposed."""
    by_person = proposal.decided_by.startswith("person/")
    if by_person and proposal.answer in YES:
        helped = " and it helped" if proposal.outcome == "effective" else ""
        return f"A person approved it{helped}; it would not have been proposed."
    return ""


def changed(proposal: Proposal, contradicts: str = "") -> Changed:
    """Write what becomes of a proposal."""
    return Changed(
        proposal.pk,
        str(proposal.resource),
        proposal.created_at,
        proposal.answer,
        proposal.decided_by,
        contradicts,
    )
