"""How far the target of a proposal is off, dimension by dimension, and what happened before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from controllers.engine.drift import ALL, WEIGHTS, DriftDimension
from controllers.engine.proposal_lifecycle import WAITING
from controllers.engine.terms import THRESHOLD
from controllers.models import DriftSample, Judgement, Proposal
from controllers.narrative import proposal_text
from controllers.workqueue import compiled_controllers
from resources.documents.kind import Kind
from resources.documents.kinds import by_name
from resources.tables.models import Condition, Resource

WEEK, DAY = timedelta(days=7), timedelta(days=1)
# How far back and how much of it is shown.
LOOKED, SHOWN = 60, 5


class DimensionShare(NamedTuple):
    """What one dimension adds to the score."""

    name: str
    label: str
    said: str
    value: float


@dataclass(frozen=True)
class DriftBreakdown:
    """A score beside its limit, what it is made of, and what it was."""

    score: float
    limit: float
    shares: Sequence[DimensionShare]
    week: float | None

    @property
    def parts(self) -> dict[str, float]:
        """The shares that can be seen in a bar."""
        return {each.name: each.value for each in self.shares if each.value}

    @property
    def label(self) -> str:
        """What the bar shows, in a sentence."""
        said = ", ".join(f"{each.label} {each.value:.2f}" for each in self.shares)
        return f"Drift {self.score:.2f} on a scale of 0 to 1: {said}. Limit {self.limit:.2f}."


def drift(
    proposal: Proposal, facts: Sequence[proposal_text.Fact], now: datetime
) -> DriftBreakdown | None:
    """Return the drift of what a proposal is about; nothing when nobody measured."""
    if proposal.score is None or proposal.controller_id is None:
        return None
    try:
        controller = compiled_controllers.load(proposal.controller_id)
        limit, weights = controller.threshold, controller.weights
    except (compiled_controllers.Invalid, Resource.DoesNotExist):
        limit, weights = THRESHOLD, WEIGHTS
    measured = dimensions(proposal, now)
    score = proposal.score
    raw = {name: weights.get(name, 0.0) * (each[0] or 0.0) for name, each in measured.items()}
    whole = sum(raw.values())
    scale = score / whole if whole else 0.0
    shares = [
        DimensionShare(
            each.name,
            each.label,
            said(each, facts, measured[each.name][1], weights.get(each.name, 0.0)),
            raw[each.name] * scale,
        )
        for each in ALL
        if each.name in measured
    ]
    return DriftBreakdown(score, limit, shares, score_at(proposal, proposal.created_at - WEEK))


def dimensions(proposal: Proposal, now: datetime) -> dict[str, tuple[float | None, int]]:
    """Return the score of each dimension, and how many things it looked at."""
    pair = {"controller": proposal.controller_id, "resource": proposal.resource_id}
    found: Mapping[str, Any] = {}
    if proposal.state in WAITING:
        judged = Judgement.objects.filter(**pair).values_list("dimensions", flat=True).first()
        found = judged or {}
    else:
        until = proposal.decided_at or proposal.confirmed_at
        samples = DriftSample.objects.filter(**pair, at__lte=until).order_by("-at", "-pk")
        sampled = samples.values_list("dimensions", flat=True).first() or {}
        found = {name: {"score": value, "of": 0} for name, value in sampled.items()}
    shown = [each.name for each in ALL if each.share is not None and each.name in found]
    return {
        name: (found[name].get("score"), found[name].get("of", 0))
        for name in shown
        if found[name].get("score") is not None
    }


def said(
    dimension: DriftDimension, facts: Sequence[proposal_text.Fact], of: int, weight: float
) -> str:
    """Say what a dimension found, and how much it weighs."""
    off = [each for each in facts if each.dimension == dimension.name and each.off]
    share = f"{len(off)} of {of}" if of else str(len(off))
    words = dimension.share(off, share) if dimension.share else share
    return f"{words.strip()}, weight {weight:g}"


def score_at(proposal: Proposal, moment: datetime) -> float | None:
    """Return what the drift was at a time, if anybody measured then."""
    samples = DriftSample.objects.filter(
        controller=proposal.controller_id, resource=proposal.resource_id, at__lte=moment
    )
    return samples.order_by("-at", "-pk").values_list("score", flat=True).first()


def met(proposal: Proposal, facts: Sequence[proposal_text.Fact]) -> Iterator[proposal_text.Fact]:
    """Yield the conditions of the target that are as they should be."""
    listed = {each.path for each in facts}
    kind = by_name(proposal.resource.kind)
    rows = Condition.objects.filter(resource=proposal.resource_id).order_by("type")
    for each in rows.exclude(managed_by__startswith="controller/"):
        good = good_word(kind, each.type)
        path = f"condition/{each.type}"
        if each.status == good and path not in listed:
            told = {"dimension": "health", "subject": path, "verdict": "met"}
            yield from proposal_text.facts([told | {"desired": good, "observed": each.status}])


def good_word(kind: Kind | None, name: str) -> str:
    """Return the status in which a condition is well."""
    types = kind.condition_types if kind else ()
    return next((each.good for each in types if each.name == name), "True")


class Earlier(NamedTuple):
    """A proposal of the same kind about the same resource, and what became of it."""

    proposal: Proposal
    title: str
    state: proposal_text.Word
    who: str
    before: float | None
    after: float | None
    hours: int | None


def earlier(proposal: Proposal, now: datetime) -> list[Earlier]:
    """Return what was proposed before to the same end, the latest first."""
    wanted = operations_of(proposal)
    rows = Proposal.objects.filter(resource=proposal.resource_id, pk__lt=proposal.pk)
    latest = rows.select_related("resource", "controller").order_by("-pk")[:LOOKED]
    found = [each for each in latest if operations_of(each) & wanted][:SHOWN]
    who = proposal_text.names(each.decided_by for each in found)
    samples = samples_of(found)
    return [
        Earlier(
            each,
            proposal_text.title(each),
            proposal_text.state(each, now),
            who.get(each.decided_by, ""),
            each.score,
            *outcome(each, samples, now),
        )
        for each in found
    ]


def operations_of(proposal: Proposal) -> set[str]:
    """Return what a proposal would do, by name."""
    return {str(each.get("operation")) for each in proposal.actions}


Samples = Sequence[tuple[int, datetime, float | None]]


def samples_of(found: Sequence[Proposal]) -> Samples:
    """Read the drift of the resource since the first of some proposals ran."""
    ran = [each.executed_at for each in found if each.executed_at is not None]
    if not ran:
        return []
    rows = DriftSample.objects.filter(resource=found[0].resource_id, at__gt=min(ran))
    return list(rows.order_by("at", "pk").values_list("controller", "at", "score"))


def outcome(
    proposal: Proposal, samples: Samples, now: datetime
) -> tuple[float | None, int | None]:
    """Return the drift a day after it ran, or now, and after how many hours."""
    ran = proposal.executed_at
    if ran is None:
        return None, None
    until = min(now, ran + DAY)
    own = [
        (at, score)
        for controller, at, score in samples
        if controller == proposal.controller_id and ran < at <= until and score is not None
    ]
    if not own:
        return None, None
    at, score = own[-1]
    return score, round((at - ran) / timedelta(hours=1))
