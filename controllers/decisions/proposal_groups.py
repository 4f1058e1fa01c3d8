"""One cause, many resources: proposals that are looked at together and decided one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet

from controllers.access import roles
from controllers.common.clocks import current
from controllers.decisions import answers, attention_checks
from controllers.decisions.proposals import SeenRevision
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Decision, Proposal
from resources.documents.problems import (
    CHANGED,
    DECIDED,
    EXPIRED,
    FORBIDDEN,
    NOT_FOUND,
    Problem,
    invalid,
)
from resources.tables import visibility
from resources.tables.batches import batches

MOST_AT_ONCE = 200
# What may be decided with others: not what is grave, nor what cannot be taken back.
SIMPLE = ~Q(risk="high") & Q(reversible=True)
EXCLUDED = "It is of high risk, or cannot be undone: decide it by itself."

Word = Literal["done", "decided", "changed", "expired", "denied", "excluded", "missing", "refused"]
# What became of one that was refused, by the code of its problem.
WORDS: Mapping[str, Word] = {
    NOT_FOUND: "missing",
    CHANGED: "changed",
    DECIDED: "decided",
    EXPIRED: "expired",
    FORBIDDEN: "denied",
}


@dataclass(frozen=True)
class ProposalGroup:
    """Proposals that wait and have one cause; the sample shows what they are about."""

    cause: str
    count: int
    # How many can be decided together: what is grave is decided by itself.
    together: int
    worst: float | None
    oldest: datetime
    ends: datetime
    sample: Proposal


@dataclass(frozen=True)
class Result:
    """What became of one answer among many."""

    key: int
    word: Word
    message: str = ""
    # How the proposal stands now; who decided it first is written there.
    proposal: Proposal | None = None

    @property
    def done(self) -> bool:
        """Whether it was heard."""
        return self.word == "done"


def waiting(now: datetime) -> QuerySet[Proposal]:
    """Return what waits for people and is not put off."""
    return Proposal.objects.filter(state__in=WAITING, expires_at__gt=current(now)).filter(
        Q(quiet_until=None) | Q(quiet_until__lte=current(now))
    )


def unanswered(rows: QuerySet[Proposal], person: User) -> QuerySet[Proposal]:
    """Leave out what somebody has approved already, and others have not."""
    said = Decision.objects.filter(
        proposal=OuterRef("pk"), revision=OuterRef("revision"), person=person, answer="approve"
    )
    return rows.exclude(Exists(said))


def groups(now: datetime, among: QuerySet[Proposal] | None = None) -> list[ProposalGroup]:
    """Return the causes of what waits, the most frequent first."""
    rows = waiting(now) if among is None else among
    counted = (
        rows.exclude(cause="")
        .order_by()
        .values("cause")
        .annotate(
            count=Count("pk"),
            together=Count("pk", filter=SIMPLE),
            worst=Max("score"),
            oldest=Min("created_at"),
            ends=Min("expires_at"),
            sample=Min("pk"),
        )
        .order_by("-count", "cause")
    )
    found = list(counted)
    samples = load([each["sample"] for each in found])
    return [ProposalGroup(**each | {"sample": samples[each["sample"]]}) for each in found]


def load(keys: Sequence[int]) -> dict[int, Proposal]:
    """Return proposals by their keys."""
    rows = Proposal.objects.select_related("controller", "resource")
    return {row.pk: row for batch in batches(keys) for row in rows.filter(pk__in=batch)}


def decide_all(
    wanted: Sequence[tuple[int, SeenRevision]],
    answer: str,
    *,
    person: User,
    now: datetime,
    reason: str = "",
    **given: Any,
) -> list[Result]:
    """Give one answer to many proposals: each by itself, bound to what was seen of it."""
    if len(wanted) > MOST_AT_ONCE:
        raise invalid(f"At most {MOST_AT_ONCE} are decided at once.")
    said = answers.said_with(answer)
    if said is None or not said.together:
        raise invalid(f"That cannot be said about many at once: {answer[:50]}.")
    say = partial(said.use_case, person=person, now=now, reason=reason, **given)
    # Somebody who sees nothing of a proposal does not learn that there is one.
    with visibility.within(roles.scope_at(person, now)):
        rows = Proposal.objects.filter(pk__in=[key for key, _ in wanted])
    seen_keys = set(rows.values_list("pk", flat=True))
    grave = set(rows.exclude(SIMPLE).values_list("pk", flat=True))
    found: list[Result] = []
    for key, seen in wanted:
        if key not in seen_keys:
            found.append(Result(key, "missing", f"There is no proposal/{key}."))
        elif key in grave:
            found.append(Result(key, "excluded", EXCLUDED))
        else:
            found.append(attempt(key, partial(say, seen=seen), person))
    return found


def attempt(key: int, say: Callable[[int], Proposal], person: User) -> Result:
    """Give one answer in its own transaction; what is refused says why."""
    try:
        proposal = say(key)
        return Result(key, "done", attention_checks.told(proposal, person), proposal)
    except Problem as problem:
        word = WORDS.get(problem.code, "refused")
        return Result(key, word, problem.message, load([key]).get(key))
