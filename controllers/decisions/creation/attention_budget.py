"""People's attention is a budget: beyond it, questions of low risk wait their turn, out of sight.

Nothing is dropped, nothing is approved, and whatever is more than a small risk or urgent is asked
at once. What waits comes back in the order it came, as many at a time as people are there for, or
at once when it gets worse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Any, NamedTuple

from django.db.models import Count, Q

from controllers.access import roles
from controllers.decisions import escalation
from controllers.engine.proposal_lifecycle import WAITING, WAITS
from controllers.models import Proposal
from resources.tables.ledger import instant

PRESSING = ("high", "critical")
# No question waits its turn for longer than this.
LONGEST = timedelta(days=7)


class Window(NamedTuple):
    """How many questions an approver is to get within some time."""

    name: str
    span: timedelta


WINDOWS = (Window("perHour", timedelta(hours=1)), Window("perDay", timedelta(days=1)))


class Budget(NamedTuple):
    """What the approvers of a domain can take in one window, and what they got in it."""

    window: Window
    each: int
    approvers: int
    asked: int
    waiting: int

    @property
    def room(self) -> int:
        """How many may still be asked at once; whoever comes while others wait, waits behind."""
        return 0 if self.waiting else max(0, self.each * self.approvers - self.asked)

    def turn(self, place: int, now: datetime) -> datetime:
        """Return when the question at a place in the line has its turn."""
        rounds = 1 + (self.waiting + place) // max(1, self.each * self.approvers)
        return now + min(LONGEST, rounds * self.window.span)

    def sentence(self, until: datetime) -> str:
        """Say why a question waits."""
        number = "1 approver has" if self.approvers == 1 else f"{self.approvers} approvers have"
        span = "an hour" if self.window.name == "perHour" else "a day"
        return (
            f"{number} a budget of {self.each} questions each in {span}, and it is used up."
            f" It is asked at {instant(until)}, or as soon as it is worse."
        )


class NewQuestion(NamedTuple):
    """A new question, what it takes the place of, and its domain."""

    proposal: Proposal
    former: Proposal | None
    domain: str


def spread(made: Sequence[NewQuestion], now: datetime) -> None:
    """Let new questions beyond the budget of their domain wait.

    One that takes the place of another keeps that one's place: seen, or in the line.
    """
    by_domain: dict[str, list[Proposal]] = defaultdict(list)
    for each in made:
        if is_simple(each.proposal) and each.former is None:
            by_domain[each.domain].append(each.proposal)
        elif is_simple(each.proposal) and each.former is not None:
            follow(each.proposal, each.former, now)
    if not by_domain:
        return
    charter = escalation.Charter.read()
    for domain, questions in by_domain.items():
        budgets = budgets_of(charter, domain, now)
        tight = min(budgets, key=lambda each: each.room, default=None)
        room = tight.room if tight else inf
        for place, question in enumerate(questions):
            if tight is not None and place >= room:
                put_off(question, tight, place - tight.room, now)


def is_simple(proposal: Proposal) -> bool:
    """Tell whether a question may wait: a small risk, nothing pressing, and people are asked."""
    asks = proposal.state == "pending" and not proposal.held
    return asks and proposal.risk == "low" and proposal.urgency not in PRESSING


def put_off(question: Proposal, budget: Budget, place: int, now: datetime) -> None:
    """Let one question wait; the time people have for it begins when they see it."""
    until = budget.turn(place, now)
    question.quiet_until, question.quiet_above = until, question.score
    question.delayed = True
    question.expires_at = until + WAITS[question.risk]
    question.policy = {**question.policy, "attention": budget.sentence(until)}


def follow(question: Proposal, former: Proposal, now: datetime) -> None:
    """Take the place in the line of the question before."""
    until = former.quiet_until
    if former.delayed and until is not None and until > now:
        question.quiet_until, question.quiet_above = until, question.score
        question.delayed, question.expires_at = True, until + WAITS[question.risk]
        said = former.policy.get("attention", "")
        question.policy = {**question.policy, "attention": said}


def declared(charter: escalation.Charter, domain: str) -> Mapping[str, int]:
    """Return the budget that the nearest Governance declares for a domain."""
    for spec in charter.covering(domain):
        rule = (spec.get("humanOverride") or {}).get("attention")
        if isinstance(rule, dict):
            return rule
    return {}


def budgets_of(charter: escalation.Charter, domain: str, now: datetime) -> list[Budget]:
    """Return every budget of a domain, with what people got already."""
    rule = declared(charter, domain)
    windows = [each for each in WINDOWS if rule.get(each.name)]
    if not windows:
        return []
    approvers = max(1, roles.approvers(domain, now))
    found: dict[str, Any] = counted(domain, windows, now)
    return [
        Budget(each, rule[each.name], approvers, found[each.name], found["waiting"])
        for each in windows
    ]


def counted(domain: str, windows: Sequence[Window], now: datetime) -> dict[str, Any]:
    """Count the questions of a domain: those shown within each window, and those in the line."""
    shown = Q(quiet_until=None) | Q(quiet_until__lte=now)
    counts = {
        each.name: Count("pk", filter=shown & Q(created_at__gt=now - each.span))
        for each in windows
    }
    line = Count("pk", filter=Q(delayed=True, state__in=WAITING, quiet_until__gt=now))
    longest = max(each.span for each in windows)
    recent = Q(created_at__gt=now - longest) | Q(quiet_until__gt=now)
    rows = Proposal.objects.filter(recent, lane="ask", resource__domain=domain, seeded=None)
    return rows.aggregate(waiting=line, **counts)
