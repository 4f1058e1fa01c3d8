"""One proposal as people read it before they decide; everything is read when it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.common import quotation
from controllers.decisions import escalation, held_reason
from controllers.decisions.answers.votes import votes as votes_for
from controllers.decisions.creation.reproposal import is_late
from controllers.engine.proposal_lifecycle import OPEN, WAITING
from controllers.models import Decision, Hold, Proposal, Step
from controllers.narrative import event_text, proposal_text
from controllers.web.approvals import deciders_view, drift_view, recheck_view
from controllers.web.approvals.deciders_view import Voter
from controllers.web.approvals.drift_view import DriftBreakdown, Earlier
from controllers.web.approvals.queue_rows import Due, due
from controllers.web.approvals.recheck_view import RecheckItem
from resources.tables.models import LedgerEvent

TOLD = 40
# No database counts further.
LARGEST = 2**63 - 1


class Level(NamedTuple):
    """Who hears of it next when nobody answers, and when."""

    role: str
    at: datetime


class Reading:
    """Everything about one proposal that a page shows of it."""

    def __init__(self, proposal: Proposal, now: datetime, *, every_field: bool = False) -> None:
        self.proposal, self.now, self.every_field = proposal, now, every_field

    @cached_property
    def number(self) -> str:
        """Its short name."""
        return proposal_text.number(self.proposal)

    @cached_property
    def title(self) -> str:
        """What would be done."""
        return proposal_text.title(self.proposal)

    @property
    def heading(self) -> str:
        """The title, as a question while it is one."""
        return proposal_text.question(self.proposal) if self.waits else self.title

    @property
    def waits(self) -> bool:
        """Whether people may still decide."""
        return self.proposal.state in WAITING and self.proposal.expires_at > self.now

    @property
    def late(self) -> bool:
        """Whether the clock has ended it."""
        return is_late(self.proposal, self.now)

    @property
    def open(self) -> bool:
        """Whether it may still bring something about."""
        return self.proposal.state in OPEN and not self.late

    @cached_property
    def state(self) -> proposal_text.Word:
        """How it stands."""
        votes = len(self.votes) if self.waits else 0
        return proposal_text.state(self.proposal, self.now, votes, self.people)

    @property
    def risk(self) -> str:
        """The word for its risk."""
        return proposal_text.RISKS[self.proposal.risk]

    @property
    def mode(self) -> proposal_text.Mode:
        """How far whoever proposes it goes."""
        return proposal_text.mode(self.proposal.mode)

    @property
    def due(self) -> Due:
        """How much time is left to decide."""
        return due(self.proposal, self.now)

    @cached_property
    def proposer(self) -> str:
        """Who proposed it."""
        return proposal_text.names([self.proposal.proposer])[self.proposal.proposer]

    @cached_property
    def decider(self) -> str:
        """Who decided it, if somebody did."""
        by = self.proposal.decided_by
        return proposal_text.names([by])[by] if by else ""

    @property
    def did(self) -> str:
        """What whoever decided did."""
        return proposal_text.answered(self.proposal.answer)

    @property
    def snoozed(self) -> bool:
        """Whether it is out of sight for a while."""
        quiet = self.proposal.quiet_until
        return self.waits and quiet is not None and quiet > self.now

    @cached_property
    def votes(self) -> Sequence[Decision]:
        """The approvals that count for what it is now."""
        return roles.still_valid(votes_for(self.proposal), self.proposal, self.now)

    @cached_property
    def needs(self) -> roles.Quorum:
        """Who has to approve, by the gate and by policies; what is over is as it was asked."""
        if self.open:
            return roles.quorum_of(self.proposal)
        return roles.Quorum(self.proposal.people)

    @cached_property
    def tally(self) -> roles.Tally:
        """What it needs, and what it has."""
        return self.needs.tally(self.votes)

    @property
    def people(self) -> int:
        """How many have to approve."""
        return self.tally.needed

    @property
    def missing(self) -> int:
        """How many more have to approve."""
        return self.tally.missing

    # What would be done.

    @cached_property
    def steps(self) -> Sequence[Step]:
        """What was carried out, or is."""
        return list(self.proposal.steps.order_by("undoes", "sequence"))

    @cached_property
    def deeds(self) -> Sequence[proposal_text.Deed]:
        """What would be done, or was."""
        return proposal_text.deeds(self.proposal, self.now, self.steps)

    @property
    def ways_back(self) -> Sequence[Step]:
        """The steps that undo others."""
        return [each for each in self.steps if each.undoes]

    @cached_property
    def said(self) -> str:
        """The reasons in an agent's own words, fit to be shown; nothing when they are not."""
        agents = quotation.speaker(self.proposal)
        return quotation.harmless(self.proposal.explanation) if agents else ""

    @property
    def saved(self) -> Sequence[proposal_text.Field]:
        """What the rollback point keeps: every field that is declared anew."""
        if not self.proposal.reversible:
            return []
        return [each for deed in self.deeds for each in deed.fields]

    @property
    def saved_paths(self) -> Sequence[str]:
        """The fields of the rollback point, each named once."""
        return [*dict.fromkeys(each.path for each in self.saved)]

    @property
    def way_back(self) -> str:
        """How long it can be undone."""
        return proposal_text.return_of(self.proposal)

    @property
    def no(self) -> str:
        """What follows without one."""
        return proposal_text.if_nothing(self.proposal)

    @cached_property
    def checks(self) -> Sequence[RecheckItem]:
        """What is asked again before it runs."""
        return recheck_view.checks(self.proposal, self.tally, self.now)

    # Why.

    @cached_property
    def facts(self) -> Sequence[proposal_text.Fact]:
        """Everything it rests on."""
        return proposal_text.facts(self.proposal.evidence)

    @property
    def off(self) -> Sequence[proposal_text.Fact]:
        """What is not as desired."""
        return [each for each in self.facts if each.off]

    @cached_property
    def every(self) -> Sequence[proposal_text.Fact]:
        """What is off, what is not known, and the conditions that are as they should be."""
        return [*self.facts, *drift_view.met(self.proposal, self.facts)]

    @property
    def shown(self) -> Sequence[proposal_text.Fact]:
        """The fields that the table lists."""
        return self.every if self.every_field else self.off

    @cached_property
    def drift(self) -> DriftBreakdown | None:
        """How far its target is off, and why."""
        return drift_view.drift(self.proposal, self.facts, self.now)

    @cached_property
    def earlier(self) -> Sequence[Earlier]:
        """What became of the same before."""
        return drift_view.earlier(self.proposal, self.now)

    # Who.

    def voters(self, viewer: User) -> Sequence[Voter]:
        """Return who decided or may, the one who looks first among those who may."""
        able = roles.entitled(self.proposal, self.now, self.needs) if self.waits else []
        return deciders_view.voters(self.needs, self.votes, able, viewer)

    @cached_property
    def next_level(self) -> Level | None:
        """Who hears of it next, if nobody answers."""
        proposal, paths = (
            self.proposal,
            escalation.Charter.read().paths_of(self.proposal.resource.domain),
        )
        at = proposal.escalated_at or proposal.created_at
        wait = escalation.reached(paths, proposal.escalation).wait
        if proposal.escalated_at is None or wait >= escalation.FOR_EVER or self.snoozed:
            return None
        following = escalation.reached(paths, proposal.escalation + 1)
        return Level(following.role or "people", at + wait)

    # What happened.

    @cached_property
    def timeline(self) -> Sequence[event_text.Happening]:
        """Its story, the latest first."""
        told = LedgerEvent.objects.filter(stream=self.proposal.stream).order_by("-seq")
        return event_text.told(list(told[:TOLD]))

    @cached_property
    def hold(self) -> Hold | None:
        """What somebody put in its place."""
        return self.proposal.holds.order_by("-pk").first()

    @cached_property
    def held(self) -> str:
        """Why it does not run although it could."""
        found = held_reason.held(self.proposal, self.now)
        return str(found["reason"]) if found else ""

    @cached_property
    def later(self) -> Sequence[Proposal]:
        """What came after it in the same thread."""
        return list(self.proposal.later.order_by("-pk")[:3])


def find(key: int | None) -> Proposal | None:
    """Return a proposal with what it is about."""
    if key is None or key > LARGEST:
        return None
    rows = Proposal.objects.select_related("controller", "resource", "superseded_by", "thread")
    return rows.filter(pk=key).first()
