"""The guided path of the demo: from the drift of one agent to a decision, and back on target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from controllers.engine import proposal_lifecycle
from controllers.models import Judgement, Proposal
from controllers.narrative import drift_queries
from controllers.narrative.drift_queries import Gauge
from controllers.worker import example_organisation

SPAN = timedelta(minutes=3)
POINTS = 36
LATELY = 10
WATCH, DECIDE, WORK, DONE = 1, 2, 3, 4


@dataclass(frozen=True)
class Guide:
    """Where a visitor is on the path: the agent it is about, its drift, and what is proposed."""

    agent: str
    gauge: Gauge | None
    trend: Sequence[float]
    proposal: Proposal | None
    # How many points a whole line has.
    steps: int = POINTS

    @property
    def at(self) -> int:
        """The step that is to be taken now."""
        if self.proposal is None:
            return WATCH
        if self.proposal.state in proposal_lifecycle.WAITING:
            return DECIDE
        return WORK if self.proposal.state in proposal_lifecycle.OPEN else DONE

    @property
    def helped(self) -> bool:
        """Whether it ended well."""
        return self.proposal is not None and self.proposal.state == "succeeded"


def path(now: datetime) -> Guide | None:
    """Return the path as far as it goes; nothing where no simulated agent is at work."""
    if not example_organisation.simulated(now):
        return None
    judged = Judgement.objects.filter(
        resource__kind="Agent", resource__name__in=example_organisation.GUIDED
    )
    gauges = {each.name: each for each in drift_queries.gauges(judged)}
    proposals = latest()
    agent = chosen(gauges, proposals)
    gauge = gauges.get(agent)
    return Guide(agent, gauge, trend(gauge, now), proposals.get(agent))


def latest() -> dict[str, Proposal]:
    """Return the last proposal about each agent of the path."""
    rows = Proposal.objects.filter(
        resource__kind="Agent", resource__name__in=example_organisation.GUIDED
    )
    newest = rows.select_related("resource", "controller").order_by("-pk")[:LATELY]
    return {each.resource.name: each for each in reversed(newest)}


def chosen(gauges: Mapping[str, Gauge], proposals: Mapping[str, Proposal]) -> str:
    """Return the agent to look at: one with work for people, one that drifts, or the last one."""
    for name, each in proposals.items():
        if each.state in proposal_lifecycle.OPEN:
            return name
    for name, gauge in gauges.items():
        if gauge.score:
            return name
    decided = max(proposals.values(), key=lambda each: each.changed_at, default=None)
    return decided.resource.name if decided else example_organisation.GUIDED[0]


def trend(gauge: Gauge | None, now: datetime) -> Sequence[float]:
    """Return the drift of an agent over the last minutes."""
    if gauge is None:
        return ()
    pair = (gauge.resource, gauge.controller)
    return drift_queries.trends([pair], now, SPAN, POINTS)[pair]
