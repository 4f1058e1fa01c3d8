"""What was proposed about one resource, and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse

from controllers.access import roles
from controllers.engine.proposal_lifecycle import OPEN, WAITING
from controllers.models import Proposal
from controllers.narrative import event_text, proposal_text
from resources.tables.models import LedgerEvent, Resource

PAGE = 50
# As many proposals as the entries of one resource are gathered from.
NEAREST = 100
LARGEST_KEY = 2**63
# What a history leaves out: reports come every few seconds.
NOISE = ("resource.status-reported", "controller.logged", "telemetry.received")


@dataclass(frozen=True)
class ProposalSummary:
    """A proposal in words."""

    proposal: Proposal
    now: datetime
    # Whether the one who looks may decide it.
    mine: bool = False

    @property
    def number(self) -> str:
        """What people call it."""
        return proposal_text.number(self.proposal)

    @property
    def title(self) -> str:
        """What would be done."""
        return proposal_text.title(self.proposal)

    @property
    def why(self) -> str:
        """Why it is proposed."""
        return proposal_text.why(self.proposal)

    @property
    def state(self) -> proposal_text.Word:
        """How it stands."""
        return proposal_text.state(self.proposal, self.now)

    @property
    def risk(self) -> str:
        """The word for its risk."""
        return proposal_text.RISKS.get(self.proposal.risk, self.proposal.risk)

    @property
    def by(self) -> str:
        """Who proposed it."""
        return self.proposal.proposer.partition("/")[2] or self.proposal.proposer

    @property
    def url(self) -> str:
        """Where it is."""
        return reverse("proposal", args=[self.proposal.pk])

    @property
    def waits(self) -> bool:
        """Whether people are asked and can still answer."""
        return self.proposal.state in WAITING and self.proposal.expires_at > self.now

    @property
    def left(self) -> float:
        """How much of the time to answer is left, in percent."""
        whole = self.proposal.expires_at - self.proposal.created_at
        return 100 * (self.proposal.expires_at - self.now) / whole if whole else 0.0


class Story:
    """The proposals and the ledger entries about one resource."""

    def __init__(self, row: Resource, query: QueryDict) -> None:
        self.row, self.query = row, query

    @property
    def proposals(self) -> QuerySet[Proposal]:
        """Everything that was proposed, the latest first."""
        rows = Proposal.objects.filter(resource=self.row.pk)
        return rows.select_related("resource", "controller").order_by("-pk")

    @cached_property
    def open(self) -> list[Proposal]:
        """What may still bring something about; what waits for people first."""
        rows = list(self.proposals.filter(state__in=OPEN)[:PAGE])
        return sorted(rows, key=lambda each: (each.state not in WAITING, -each.pk))

    @property
    def open_count(self) -> int:
        """How many proposals are open."""
        return len(self.open)

    def decidable(self, person: User, now: datetime) -> set[int]:
        """Return which of them somebody may decide."""
        waiting = self.proposals.filter(state__in=WAITING)
        return {each.pk for each in roles.waiting_for(person, waiting, PAGE, now)}

    @cached_property
    def page(self) -> list[Proposal]:
        """One page of proposals, and one more when there is a next page."""
        rows = self.proposals
        if self.before is not None:
            rows = rows.filter(pk__lt=self.before)
        return list(rows[: PAGE + 1])

    @cached_property
    def entries(self) -> list[LedgerEvent]:
        """One page of entries, and one more when there is a next page."""
        return self.events(limit=PAGE + 1, before=self.before)

    @property
    def before(self) -> int | None:
        """Where this page begins."""
        said = self.query.get("before", "")[:20]
        return int(said) if said.isdecimal() and int(said) < LARGEST_KEY else None

    def events(
        self, *, limit: int, before: int | None = None, quiet: bool = False
    ) -> list[LedgerEvent]:
        """Return the latest entries about the resource and its proposals.

        Two questions, because one order over both would read all of either.
        """
        keys = self.proposals.order_by("-changed_at").values_list("pk", flat=True)[:NEAREST]
        subjects = [f"proposal/{key}" for key in keys]
        own = LedgerEvent.objects.filter(subject=str(self.row))
        theirs = LedgerEvent.objects.filter(subject__in=subjects)
        found = []
        for rows in (own, theirs):
            rows = rows if before is None else rows.filter(pk__lt=before)
            rows = rows.exclude(event__in=NOISE).exclude(event_text.asked()) if quiet else rows
            found.append(rows.order_by("-pk")[:limit])
        return sorted(chain(*found), key=lambda each: -each.pk)[:limit]
