"""One proposal as people read it before they decide; everything is read when it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.contrib.auth.models import User

from controllers import escalation, happenings, quoting, roles, wording
from controllers.api import decision_documents as documents
from controllers.deciding.voting import votes as votes_for
from controllers.lifecycle import OPEN, WAITING
from controllers.models import Decision, Hold, Proposal, Step
from controllers.pages import reading_checks, reading_drift, reading_people
from controllers.pages.approvals_rows import Due, due
from controllers.pages.reading_checks import Check
from controllers.pages.reading_drift import Drift, Earlier
from controllers.pages.reading_people import Voter
from resources.models import LedgerEvent

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
        return wording.number(self.proposal)

    @cached_property
    def title(self) -> str:
        """What would be done."""
        return wording.title(self.proposal)

    @property
    def heading(self) -> str:
        """The title, as a question while it is one."""
        return wording.question(self.proposal) if self.waits else self.title

    @property
    def waits(self) -> bool:
        """Whether people may still decide."""
        return self.proposal.state in WAITING and self.proposal.expires_at > self.now

    @property
    def late(self) -> bool:
        """Whether the clock has ended it."""
        return documents.is_late(self.proposal, self.now)

    @property
    def open(self) -> bool:
        """Whether it may still bring something about."""
        return self.proposal.state in OPEN and not self.late

    @cached_property
    def state(self) -> wording.Word:
        """How it stands."""
        votes = len(self.votes) if self.waits else 0
        return wording.state(self.proposal, self.now, votes, self.people)

    @property
    def risk(self) -> str:
        """The word for its risk."""
        return wording.RISKS[self.proposal.risk]

    @property
    def mode(self) -> wording.Mode:
        """How far whoever proposes it goes."""
        return wording.mode(self.proposal.mode)

    @property
    def due(self) -> Due:
        """How much time is left to decide."""
        return due(self.proposal, self.now)

    @cached_property
    def proposer(self) -> str:
        """Who proposed it."""
        return wording.names([self.proposal.proposer])[self.proposal.proposer]

    @cached_property
    def decider(self) -> str:
        """Who decided it, if somebody did."""
        by = self.proposal.decided_by
        return wording.names([by])[by] if by else ""

    @property
    def did(self) -> str:
        """What whoever decided did."""
        return wording.answered(self.proposal.answer)

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
    def deeds(self) -> Sequence[wording.Deed]:
        """What would be done, or was."""
        return wording.deeds(self.proposal, self.now, self.steps)

    @property
    def ways_back(self) -> Sequence[Step]:
        """The steps that undo others."""
        return [each for each in self.steps if each.undoes]

    @cached_property
    def said(self) -> str:
        """The reasons in an agent's own words, fit to be shown; nothing when they are not."""
        agents = quoting.speaker(self.proposal)
        return quoting.harmless(self.proposal.explanation) if agents else ""

    @property
    def saved(self) -> Sequence[wording.Field]:
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
        return wording.return_of(self.proposal)

    @property
    def no(self) -> str:
        """What follows without one."""
        return wording.if_nothing(self.proposal)

    @cached_property
    def checks(self) -> Sequence[Check]:
        """What is asked again before it runs."""
        return reading_checks.checks(self.proposal, self.tally, self.now)

    # Why.

    @cached_property
    def facts(self) -> Sequence[wording.Fact]:
        """Everything it rests on."""
        return wording.facts(self.proposal.evidence)

    @property
    def off(self) -> Sequence[wording.Fact]:
        """What is not as desired."""
        return [each for each in self.facts if each.off]

    @cached_property
    def every(self) -> Sequence[wording.Fact]:
        """What is off, what is not known, and the conditions that are as they should be."""
        return [*self.facts, *reading_drift.met(self.proposal, self.facts)]

    @property
    def shown(self) -> Sequence[wording.Fact]:
        """The fields that the table lists."""
        return self.every if self.every_field else self.off

    @cached_property
    def drift(self) -> Drift | None:
        """How far its target is off, and why."""
        return reading_drift.drift(self.proposal, self.facts, self.now)

    @cached_property
    def earlier(self) -> Sequence[Earlier]:
        """What became of the same before."""
        return reading_drift.earlier(self.proposal, self.now)

    # Who.

    def voters(self, viewer: User) -> Sequence[Voter]:
        """Return who decided or may, the one who looks first among those who may."""
        able = roles.entitled(self.proposal, self.now, self.needs) if self.waits else []
        return reading_people.voters(self.needs, self.votes, able, viewer)

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
    def timeline(self) -> Sequence[happenings.Happening]:
        """Its story, the latest first."""
        told = LedgerEvent.objects.filter(stream=self.proposal.stream).order_by("-seq")
        return happenings.told(list(told[:TOLD]))

    @cached_property
    def hold(self) -> Hold | None:
        """What somebody put in its place."""
        return self.proposal.holds.order_by("-pk").first()

    @cached_property
    def held(self) -> str:
        """Why it does not run although it could."""
        found = documents.held(self.proposal, self.now)
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
