"""What somebody holds, and where: read in one question, for everything they look at."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone

from controllers.access.roles import rights
from controllers.models import Drill, Grant, Hold, Proposal, WorkflowRun
from resources.tables import visibility
from resources.tables.visibility import Scope, streams


def scope_at(person: User, now: datetime) -> Scope:
    """Return the roles that somebody holds at a time."""
    held = rights.anywhere(Grant.Role.values, now).filter(person=person.pk)
    return Scope(person.get_username(), frozenset(held.values_list("role", "domain")))


def scopes_of(people: Collection[User], now: datetime) -> dict[int, Scope]:
    """Return the roles that several people hold at a time, by their keys."""
    held: dict[int, set[tuple[str, str]]] = {each.pk: set() for each in people}
    rows = rights.anywhere(Grant.Role.values, now).filter(person__in=held)
    for person, role, domain in rows.values_list("person", "role", "domain"):
        held[person].add((role, domain))
    return {each.pk: Scope(each.get_username(), frozenset(held[each.pk])) for each in people}


def scope_now(person: Any) -> Scope:
    """Return the roles that somebody holds, for whoever asks on behalf of a request."""
    return scope_at(person, timezone.now()) if isinstance(person, User) else Scope()


def chains(scope: Scope) -> Q:
    """Say which chains somebody reads besides those of resources."""
    with visibility.within(scope):
        rows = (("proposal", Proposal), ("hold", Hold), ("run", WorkflowRun), ("drill", Drill))
        found = Q()
        for prefix, model in rows:
            found |= streams(prefix, model._default_manager.all())
    return found


def colleagues(people: QuerySet[User], scope: Scope | None) -> QuerySet[User]:
    """Keep the people who have a role where somebody has one; everybody without a narrow scope."""
    if scope is None or scope.is_whole:
        return people
    near = Grant.objects.filter(domain__in=scope.reading).values("person")
    return people.filter(Q(pk__in=near) | Q(username=scope.person))


def install() -> None:
    """Let everything that is read ask here."""
    visibility.Roles.read = staticmethod(scope_now)
    if chains not in visibility.chains:
        visibility.chains.append(chains)
