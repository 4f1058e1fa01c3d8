"""How well people decide: how long it takes them, and how often it is taken back.

Of a controller everybody who sees it may know; of a person only that person. Administrators see
people together, and only where nobody can be told apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median, quantiles
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import QuerySet

from controllers.access import roles
from controllers.models import Check, Decision

LATELY = timedelta(days=90)
# No more answers are gone through; then it is said that there were more.
MOST = 2_000
# Figures of fewer people would be figures of a person.
FEWEST = 3
YES = ("approve", "break_glass")
NO = ("reject", "accept")
DECIDING = (*YES, *NO, "override", "adopt")


class Given(NamedTuple):
    """One answer of a person, with what became of the proposal."""

    answer: str
    at: datetime
    asked_at: datetime
    state: str
    last: str
    outcome: str
    person: int

    @property
    def seconds(self) -> float:
        """How long it took."""
        return max(0.0, (self.at - self.asked_at).total_seconds())

    @property
    def reverted(self) -> bool:
        """Whether what was approved was taken back afterwards."""
        return self.answer in YES and (self.last == "undo" or self.state == "rolled_back")

    @property
    def replaced(self) -> bool:
        """Whether something else was done in the end."""
        return self.answer == "override" or self.state == "overridden"


@dataclass(frozen=True)
class Quality:
    """How some answers turned out, since a time."""

    since: datetime
    answers: int
    approved: int
    rejected: int
    overridden: int
    reverted: int
    worse: int
    # The middle one, and the one that nine of ten are faster than; nothing of none.
    typical: timedelta | None = None
    slow: timedelta | None = None
    # Whether there were more than were gone through.
    cut: bool = False
    # Check proposals that were answered, and how many of them were not let through.
    checks: int = 0
    caught: int = 0

    @property
    def override_rate(self) -> float | None:
        """How many people replaced by something else; nothing of none."""
        return self.overridden / self.answers if self.answers else None

    @property
    def catch_rate(self) -> float | None:
        """How many of the checks were caught; nothing of none."""
        return self.caught / self.checks if self.checks else None

    @property
    def revert_rate(self) -> float | None:
        """How many of the approved were taken back; nothing of none."""
        return self.reverted / self.approved if self.approved else None


class Together(NamedTuple):
    """How everybody decides: of how many people, and what; nothing of too few."""

    people: int
    quality: Quality | None


def of_controller(proposer: str, now: datetime, since: datetime | None = None) -> Quality:
    """Return how people decide about what a controller proposes, such as `controller/x`."""
    since = since or now - LATELY
    return summed(since, read(answers(since).filter(proposal__proposer=proposer)))


def of_person(person: User, now: datetime) -> Quality:
    """Return how somebody decides; only for their own eyes."""
    since = now - LATELY
    found = summed(since, read(answers(since).filter(person=person)))
    return with_checks(found, checked(since).filter(person=person))


def of_everybody(viewer: User, now: datetime) -> Together | None:
    """Return how people decide together; nothing for those who are no administrators."""
    if not roles.holds_role(viewer, ("administrator",), "", now):
        return None
    since = now - LATELY
    found = read(answers(since))
    people = len({each.person for each in found})
    if people < FEWEST:
        return Together(people, None)
    checks, all_of_them = checked(since), summed(since, found)
    # The checks of fewer people would be theirs.
    enough = checks.values("person").distinct().count() >= FEWEST
    return Together(people, with_checks(all_of_them, checks) if enough else all_of_them)


def checked(since: datetime) -> QuerySet[Check]:
    """Return the check proposals that people answered."""
    return Check.objects.filter(person__isnull=False, ended_at__gte=since)


def with_checks(found: Quality, rows: QuerySet[Check]) -> Quality:
    """Add how many checks there were, and how many of them were caught."""
    seen = list(rows.values_list("caught", flat=True)[:MOST])
    return replace(found, checks=len(seen), caught=count(bool(each) for each in seen))


def answers(since: datetime) -> QuerySet[Decision]:
    """Return the answers of people that decide something."""
    return Decision.objects.filter(person__isnull=False, answer__in=DECIDING, at__gte=since)


def read(rows: QuerySet[Decision]) -> list[Given]:
    """Read some answers with what became of them, and one more than is gone through."""
    columns = ("answer", "at", "proposal__created_at", "proposal__state", "proposal__answer")
    found = rows.order_by("-pk").values_list(*columns, "proposal__outcome", "person_id")
    return [Given(*row) for row in found[: MOST + 1]]


def summed(since: datetime, found: list[Given]) -> Quality:
    """Count some answers."""
    kept = found[:MOST]
    took = sorted(each.seconds for each in kept)
    return Quality(
        since=since,
        answers=len(kept),
        approved=count(each.answer in YES for each in kept),
        rejected=count(each.answer in NO for each in kept),
        overridden=count(each.replaced for each in kept),
        reverted=count(each.reverted for each in kept),
        worse=count(each.answer in YES and each.outcome == "worse" for each in kept),
        typical=timedelta(seconds=median(took)) if took else None,
        slow=timedelta(seconds=tenth(took)) if took else None,
        cut=len(found) > MOST,
    )


def tenth(took: list[float]) -> float:
    """Return the time that nine of ten stay below."""
    return quantiles(took, n=10, method="inclusive")[-1] if len(took) > 1 else took[0]


def count(found: Iterable[bool]) -> int:
    """Count what is true."""
    return sum(found)
