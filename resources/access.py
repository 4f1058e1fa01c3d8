"""Who sees what: one rule for lists, documents, feeds and the ledger."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import CharField, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat, Replace

from resources import kinds
from resources.kind import Document
from resources.models import AgentToken, LedgerEvent, Resource

# Domains that stand for the whole organisation.
SHARED = ("", "*")

Principal = AgentToken | AbstractBaseUser | AnonymousUser


def visible(resources: QuerySet[Resource], principal: Principal) -> QuerySet[Resource]:
    """Keep what a principal may read: people all, an agent its domain, the shared and itself."""
    if isinstance(principal, AgentToken):
        return resources.filter(Q(domain__in=domains(principal)) | Q(pk=principal.agent_id))
    return resources if principal.is_authenticated else resources.none()


def sees(principal: Principal, document: Document) -> bool:
    """Apply the same rule to a document, as it is or as it was."""
    if not isinstance(principal, AgentToken):
        return principal.is_authenticated
    kind = kinds.by_name(document["kind"])
    agent = (document["kind"], document["metadata"]["name"]) == ("Agent", principal.agent.name)
    return agent or (kind is not None and kind.domain_of(document)[:253] in domains(principal))


def domains(token: AgentToken) -> tuple[str, ...]:
    """Return the domains an agent reads."""
    return (token.agent.domain, *SHARED)


def visible_events(events: QuerySet[LedgerEvent], principal: Principal) -> QuerySet[LedgerEvent]:
    """Keep the entries about what a principal may read; an agent sees no other streams."""
    if not isinstance(principal, AgentToken):
        return events if principal.is_authenticated else events.none()
    # By uid and not by name: a name may have belonged to another domain's resource before.
    # SQLite keeps a uid without hyphens, so both sides are compared that way.
    streams = visible(Resource.objects.all(), principal).annotate(
        stream=Concat(Value("resource/"), plain("uid"), output_field=CharField())
    )
    return events.annotate(plain_stream=plain("stream")).filter(
        plain_stream__in=streams.values("stream")
    )


def plain(column: str) -> Replace:
    """Return a column as text without hyphens."""
    return Replace(Cast(column, TextField()), Value("-"), Value(""), output_field=CharField())
