"""Who sees what and who edits it: one rule for lists, documents, feeds, pages and the ledger.

People see what lies in the domains where they hold a role, and what is everybody's; with a role
for the organisation, all of it. Agents see their domain. What somebody may not see is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Model, Q, QuerySet

from resources.documents import kinds
from resources.documents.kind import Document
from resources.store import selectors
from resources.tables import visibility
from resources.tables.models import AgentToken, LedgerEvent, Resource
from resources.tables.visibility import EDITORS, SHARED, Scope, entries, streams

Principal = AgentToken | AbstractBaseUser | AnonymousUser
Row = TypeVar("Row", bound=Model)

NOBODY = Scope()
KEPT = "scope_of_the_request"


def scope_of(person: AbstractBaseUser | AnonymousUser) -> Scope:
    """Return what somebody holds, read once for a request and else each time it is asked."""
    if not person.is_authenticated:
        return NOBODY
    kept: Scope | None = getattr(person, KEPT, None)
    return kept if kept is not None else visibility.Roles.read(person)


def keep_scope(person: AbstractBaseUser) -> Scope:
    """Read what somebody holds and keep it for the request that they were loaded for."""
    held = visibility.Roles.read(person)
    setattr(person, KEPT, held)
    return held


def narrowness(principal: Principal) -> Scope | None:
    """Return the scope that narrows what somebody reads; agents have rules of their own."""
    return None if isinstance(principal, AgentToken) else scope_of(principal)


def rows(model: type[Row], principal: Principal) -> QuerySet[Row]:
    """Return the rows of a table that a person may see; those of agents are narrowed elsewhere."""
    with visibility.within(narrowness(principal)):
        return model._default_manager.all()


def may_edit(person: AbstractBaseUser | AnonymousUser, verb: str, domain: str | None) -> bool:
    """Tell whether somebody may add, change or delete in a domain; without one: anywhere."""
    held = scope_of(person)
    if domain is None:
        return held.holds_somewhere(EDITORS[verb])
    return held.edits(verb, domain)


def visible(resources: QuerySet[Resource], principal: Principal) -> QuerySet[Resource]:
    """Keep what a principal may read: its domains, the shared, and for an agent itself.

    An outside controller reads what it looks after, wherever that is.
    """
    if isinstance(principal, AgentToken):
        near = Q(domain__in=domains(principal)) | Q(pk=principal.agent_id)
        if (watched := watches(principal)) is not None:
            near |= Q(pk__in=looked_after(watched).values("pk"))
        return resources.filter(near)
    held = scope_of(principal)
    return resources if held.is_whole else resources.filter(domain__in=held.reading)


def sees(principal: Principal, document: Document) -> bool:
    """Apply the same rule to a document, as it is or as it was."""
    kind = kinds.by_name(document["kind"])
    if not isinstance(principal, AgentToken):
        held = scope_of(principal)
        domain = kind.domain_of(document)[:253] if kind is not None else None
        return held.is_whole or domain in held.reading
    named = (document["kind"], document["metadata"]["name"])
    if named == (principal.agent.kind, principal.agent.name) or is_watched(principal, document):
        return True
    return kind is not None and kind.domain_of(document)[:253] in domains(principal)


class Watched(NamedTuple):
    """What a controller looks after: a kind, and the labels that it must carry."""

    kind: str
    labels: Mapping[str, str]


def watches(token: AgentToken) -> Watched | None:
    """Return what the bearer of a token looks after, if it is a controller."""
    spec = token.agent.spec if token.agent.kind == "Controller" else {}
    if not spec:
        return None
    labels = (spec.get("targetSelector") or {}).get("matchLabels") or {}
    return Watched(str(spec.get("targetKind")), labels)


def looked_after(watched: Watched) -> QuerySet[Resource]:
    """Return what a controller looks after."""
    rows = Resource.objects.filter(kind=watched.kind)
    return selectors.matching(rows, selectors.match_labels(watched.labels))


def is_watched(token: AgentToken, document: Document) -> bool:
    """Apply the same rule to a document."""
    watched = watches(token)
    if watched is None or document["kind"] != watched.kind:
        return False
    labels = document["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in watched.labels.items())


def domains(token: AgentToken) -> tuple[str, ...]:
    """Return the domains an agent reads."""
    return (token.agent.domain, *SHARED)


def visible_events(events: QuerySet[LedgerEvent], principal: Principal) -> QuerySet[LedgerEvent]:
    """Keep the entries about what a principal may read; an agent sees no other streams."""
    if not isinstance(principal, AgentToken):
        held = scope_of(principal)
        return events if held.is_whole else events.filter(entries(held, Resource._base_manager))
    # By uid and not by name: a name may have belonged to another domain's resource before.
    return events.filter(streams("resource", visible(Resource.objects.all(), principal)))
