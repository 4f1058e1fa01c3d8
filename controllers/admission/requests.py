"""What an agent asks: on what, at which cost, with which parameters; and what names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
from django.db.models import TextField
from django.db.models.functions import Cast

from controllers import budgets
from controllers.budgets import Claim, Spent
from controllers.engine.admission import Ask
from controllers.models import Admission, Usage
from resources.documents import kinds
from resources.documents.canonical import digest
from resources.documents.problems import missing
from resources.tables.models import AgentToken, Resource
from resources.usecases import access

ASSET = "asset"


@dataclass(frozen=True)
class Request:
    """A question as it comes in."""

    operation: str
    # A reference such as `agent/scribe`, or `asset/customer-ledger` for data of a domain.
    resource: str
    claim: Claim = field(default_factory=Claim)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # What the agent passes along, for the patterns of policies.
    text: str = ""
    why: str = ""
    key: str = ""


@dataclass(frozen=True)
class ResolvedRequest:
    """A question with its target and its cost found."""

    request: Request
    agent: Resource
    target: Resource
    asset: str
    spent: Spent
    digest: str

    @property
    def on(self) -> str:
        """What it is about, as people name it."""
        return f"{ASSET}/{self.asset}" if self.asset else str(self.target)


def named(request: Request, target: Resource, asset: str, spent: Spent) -> str:
    """Return what names a question's content: a permit is for this and nothing else."""
    return digest(
        {
            "operation": request.operation,
            "resource": str(target.uid),
            "asset": asset,
            "tokens": spent.tokens,
            "cost": spent.cost,
            "currency": spent.currency,
            "parameters": dict(request.parameters),
        }
    )


def found(request: Request, token: AgentToken) -> ResolvedRequest:
    """Find what a question is about, and what it would cost."""
    kind, _, name = request.resource.partition("/")
    home = token.agent.domain
    target = owner_of(name, home) if kind == ASSET else seen(kind, name, token)
    known = budgets.prices([request.claim.named])
    spent = budgets.worked_out(request.claim, known)
    asset = name if kind == ASSET else ""
    content = named(request, target, asset, spent)
    return ResolvedRequest(request, token.agent, target, asset, spent, content)


def as_asked(row: Admission) -> ResolvedRequest:
    """Return a question that was asked before; what it passed along was judged then."""
    asset = row.asset
    request = Request(row.operation, f"{ASSET}/{asset}" if asset else str(row.target))
    spent = Spent(row.tokens, 0, row.cost, row.currency, Usage.Priced.GIVEN)
    return ResolvedRequest(request, row.agent, row.target, asset, spent, row.digest)


def seen(kind: str, name: str, token: AgentToken) -> Resource:
    """Return a live resource that an agent may read."""
    declared = kinds.by_path(kind)
    rows = Resource.objects.filter(
        kind=declared.name if declared else "", name=name, deleted_at=None
    )
    row = access.visible(rows, token).first()
    if row is None:
        raise missing(f"There is no {kind[:32]}/{name[:253]}.")
    return row


def owner_of(asset: str, home: str) -> Resource:
    """Return the domain that owns data of a name; the agent's own comes before others."""
    rows = Resource.objects.filter(kind="Domain", deleted_at=None).annotate(
        declared=Cast("spec", TextField())
    )
    near = rows.filter(declared__contains=orjson.dumps(asset).decode()).order_by("pk")
    owners = [row for row in near if asset in assets_of(row.spec)]
    if not owners:
        raise missing(f"No domain owns data called {asset[:253]}.")
    return min(owners, key=lambda row: row.name != home)


def assets_of(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the data a domain owns."""
    owned = spec.get("dataOwnership")
    for each in owned if isinstance(owned, list) else ():
        name = each.get("name") if isinstance(each, dict) else each
        if isinstance(name, str):
            yield name


def as_ask(wanted: ResolvedRequest, session: timedelta) -> Ask:
    """Put a question before the guards."""
    spent, target = wanted.spent, wanted.target
    return Ask(
        agent=wanted.agent.name,
        domain=wanted.agent.domain,
        spec=wanted.agent.spec,
        operation=wanted.request.operation,
        target=wanted.on,
        target_domain=target.domain,
        target_spec=target.spec,
        asset=wanted.asset,
        tokens=spent.tokens,
        millionths=spent.cost,
        currency=spent.currency,
        priced=spent.priced != Usage.Priced.UNKNOWN,
        texts=tuple(passed_along(wanted.request)),
        session=session,
    )


def passed_along(request: Request) -> Iterator[str]:
    """Yield every text of a question that somebody may act upon."""
    yield from (each for each in (request.text, request.why) if each)
    yield from leaves(request.parameters)


def leaves(value: Any) -> Iterator[str]:
    """Yield the texts inside a plain value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
