"""The queue in groups: what needs somebody, what waits for others, what is routine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet

from controllers.access import roles
from controllers.access.roles.deputies import delegators
from controllers.access.roles.pending_decisions import within_rights
from controllers.common.clocks import current
from controllers.decisions import proposal_groups
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Proposal
from controllers.trust import track_record
from controllers.web.approvals.queue_filters import Filters, key, past, waiting
from controllers.web.approvals.queue_rows import Row

# So many rows of a group are on one page, and of those that are only mentioned.
MOST, FEW = 50, 10
# What was approved this often, and never otherwise, is routine.
OFTEN = 3
SIMPLE = Q(risk="low", reversible=True, people=1)
UNDERWAY = ("approved", "executing", "verifying", "unknown", "changes_requested")


class Record(NamedTuple):
    """What people said of one cause lately."""

    decided: int
    approved: int
    worse: int = 0

    @property
    def good(self) -> bool:
        """Whether it was approved every time, often enough to say so, and never made it worse."""
        return self.decided >= OFTEN and self.approved == self.decided and not self.worse


@dataclass(frozen=True)
class QueueGroup:
    """Rows that belong together; `more` leads on when there are more than are shown."""

    name: str
    title: str
    rows: Sequence[Row]
    more: str = ""
    record: Record | None = None
    cause: str = ""

    @property
    def bulk(self) -> bool:
        """Whether the one who looks may decide these together."""
        return self.name in ("mine", "routine")

    @property
    def count(self) -> str:
        """How many there are, as far as anybody counted."""
        return f"{len(self.rows)}{'+' if self.more else ''}"


class Queue:
    """Everything somebody sees of the queue, in a bounded number of questions."""

    def __init__(self, filters: Filters, person: User, now: datetime) -> None:
        self.filters, self.person, self.now = filters, person, now

    @cached_property
    def groups(self) -> list[QueueGroup]:
        """The groups that have anything to show, or the one that was asked for."""
        return [each for each in (make() for make in self.makers) if each.rows]

    @property
    def makers(self) -> Sequence[Callable[[], QueueGroup]]:
        """What makes the groups that were asked for, in their order."""
        made = {
            "mine": self.mine,
            "others": self.others,
            "routine": self.routine,
            "underway": self.underway,
            "snoozed": self.snoozed,
        }
        if self.filters.state != "open":
            return [self.past]
        if self.filters.group in made:
            return [made[self.filters.group]]
        return [self.mine, self.routine] if self.filters.mine else list(made.values())

    @cached_property
    def first(self) -> int | None:
        """The proposal that is read first; the groups after its own are not asked for."""
        groups = (make() for make in self.makers)
        rows = (row for group in groups for row in group.rows)
        return next((row.proposal.pk for row in rows), None)

    @cached_property
    def open(self) -> QuerySet[Proposal]:
        """What waits, of what was asked for."""
        return self.filters.among(waiting(self.now), self.now)

    @cached_property
    def total(self) -> int:
        """How many wait."""
        return self.open.count()

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """What people said of the causes of the simple ones, those with a good record."""
        simple = self.open.filter(SIMPLE).exclude(cause="").order_by()
        known = Proposal.objects.filter(
            cause__in=simple.values("cause"), changed_at__gte=self.now - track_record.LATELY
        ).exclude(state__in=WAITING)
        rows = (
            known.order_by()
            .values("cause")
            .annotate(
                decided=Count("pk", filter=track_record.COUNTS["decided"] & ~Q(lane="run")),
                approved=Count("pk", filter=track_record.APPROVED & ~Q(lane="run")),
                worse=Count("pk", filter=Q(outcome="worse")),
            )
        )
        found = {
            each["cause"]: Record(each["decided"], each["approved"], each["worse"])
            for each in rows
        }
        return {cause: record for cause, record in found.items() if record.good}

    @cached_property
    def is_routine(self) -> Q:
        """What is low in risk, can be undone, and was always approved."""
        mine = within_rights(self.speaking_for, self.now)
        return SIMPLE & Q(cause__in=list(self.records)) & mine

    @cached_property
    def speaking_for(self) -> list[User]:
        """The one who looks, and those they decide for."""
        return [self.person, *delegators(self.person, self.now)]

    @cached_property
    def decidable(self) -> list[Proposal]:
        """The first of those that the one who looks may decide and has not yet."""
        rows = proposal_groups.unanswered(self.open.exclude(self.is_routine), self.person)
        return roles.waiting_for(self.person, self.onward(rows, "mine"), MOST + 1, self.now)

    def mine(self) -> QueueGroup:
        """What needs the one who looks."""
        return self.grouped("mine", "Needs you", self.decidable, MOST)

    def others(self) -> QueueGroup:
        """What waits for other people."""
        rows = self.open.exclude(self.is_routine)
        if len(self.decidable) <= MOST and self.filters.group != "others":
            rows = rows.exclude(pk__in=[each.pk for each in self.decidable])
        else:
            rows = rows.exclude(within_rights(self.speaking_for, self.now))
        found = list(self.onward(rows, "others")[: MOST + 1])
        return self.grouped("others", "Waiting for others", found, MOST)

    def routine(self) -> QueueGroup:
        """What was approved every time."""
        rows = self.open.filter(self.is_routine) if self.records else self.open.none()
        if self.filters.mine:
            found = roles.waiting_for(self.person, rows, MOST + 1, self.now)
        else:
            found = list(self.onward(rows, "routine")[: MOST + 1])
        shown = [self.records[each] for each in {row.cause for row in found}]
        record = Record(sum(e.decided for e in shown), sum(e.approved for e in shown))
        cause = found[0].cause if found else ""
        return self.grouped("routine", "Routine", found, MOST, record, cause)

    def underway(self) -> QueueGroup:
        """What was decided and is not over."""
        rows = Proposal.objects.select_related("resource", "controller")
        rows = self.filters.among(rows.filter(state__in=UNDERWAY), self.now)
        most = MOST if self.filters.group else FEW
        found = list(self.back(rows.order_by("-changed_at", "-pk"))[: most + 1])
        return self.grouped("underway", "Under way", found, most)

    def snoozed(self) -> QueueGroup:
        """What was put off."""
        rows = Proposal.objects.filter(state__in=WAITING, quiet_until__gt=current(self.now))
        rows = self.filters.among(rows.select_related("resource", "controller"), self.now)
        rows = rows.filter(expires_at__gt=current(self.now)).order_by("expires_at", "pk")
        most = MOST if self.filters.group else FEW
        found = list(self.onward(rows, "snoozed")[: most + 1])
        return self.grouped("snoozed", "Snoozed", found, most)

    def past(self) -> QueueGroup:
        """What was decided, or all there is."""
        rows = self.filters.among(past(self.now, self.filters.state), self.now)
        title = "Decided" if self.filters.state == "decided" else "All proposals"
        return self.grouped("past", title, list(self.back(rows)[: MOST + 1]), MOST)

    def onward(self, rows: QuerySet[Proposal], group: str) -> QuerySet[Proposal]:
        """Go on after the last row of the page before."""
        place = place_of(self.filters.after) if self.filters.group == group else None
        if place is None:
            return rows
        at, last = place
        return rows.filter(Q(expires_at__gt=at) | Q(expires_at=at, pk__gt=last))

    def back(self, rows: QuerySet[Proposal]) -> QuerySet[Proposal]:
        """Go on to what changed before the last row of the page before."""
        place = place_of(self.filters.after)
        if place is None:
            return rows
        at, last = place
        return rows.filter(Q(changed_at__lt=at) | Q(changed_at=at, pk__lt=last))

    def grouped(
        self,
        name: str,
        title: str,
        found: Sequence[Proposal],
        most: int,
        record: Record | None = None,
        cause: str = "",
    ) -> QueueGroup:
        """Make a group of what was found; one more than fits leads on."""
        shown = found[:most]
        more = ""
        if len(found) > most:
            last = shown[-1]
            at = last.changed_at if name in ("past", "underway") else last.expires_at
            after = f"{at.isoformat()}~{last.pk}"
            more = self.filters.url(group=name, after=after)
        rows = [Row(each, self.now, each.pk == self.filters.at) for each in shown]
        return QueueGroup(name, title, rows, more, record, cause)


def place_of(after: str) -> tuple[datetime, int] | None:
    """Read where a page ended: a time and a number."""
    at, _, number = after.partition("~")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    found = key(number)
    return (moment, found) if moment.tzinfo is not None and found is not None else None
