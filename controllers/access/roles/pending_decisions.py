"""What waits for one person: the rules of `eligibility`, asked about many proposals at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import count

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from controllers.access.roles import deputies, interests, rights
from controllers.access.roles.eligibility import RISKS, Case
from controllers.access.roles.rights import DECIDE
from controllers.models import Proposal


def waiting_for(
    person: User, among: QuerySet[Proposal], most: int, now: datetime
) -> list[Proposal]:
    """Return the first proposals that somebody may decide, also for another."""
    delegators = deputies.delegators(person, now)
    near = among.filter(within_rights([person, *delegators], now))
    found: list[Proposal] = []
    # Few have a part in what they may decide, so one batch is nearly always enough.
    for start in count(step=most):
        batch = list(near[start : start + most])
        cases = zip(batch, Case.read_all(batch, now), strict=True)
        found += [each for each, case in cases if may_decide(person, delegators, case)]
        if len(batch) < most or len(found) >= most:
            break
    return found[:most]


def within_rights(people: Iterable[User], now: datetime) -> Q:
    """Say which proposals lie in the domains of some people, and not above their ceilings."""
    held = rights.anywhere(DECIDE, now).filter(person__in=people)
    reached = Q(pk__in=[])
    for domain, ceiling in held.values_list("domain", "ceiling").distinct():
        risks = RISKS[: RISKS.index(ceiling) + 1]
        reached |= Q(risk__in=risks, **({"resource__domain": domain} if domain else {}))
    return reached


def may_decide(person: User, delegators: Sequence[User], case: Case) -> bool:
    """Tell whether somebody may decide, in their own right or for one of their delegators."""
    if interests.objection(person, case.barred) is not None:
        return False
    able = (case.objection(each) is None for each in delegators)
    return case.lack(person) is None or any(able)
