"""What a controller has earned: granted by two people, lost at once by itself.

The gate is told here, and only here, what may run without asking. Whatever shows that the trust
was misplaced (a no, something else done instead, something taken back, another declaration) ends
it in the transaction of what shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import F

from controllers.models import Autonomy, Proposal
from resources.documents.actor import SYSTEM, Actor
from resources.tables import ledger
from resources.tables.models import Resource

Earned = frozenset[tuple[str, str]]
NOTHING: Earned = frozenset()
# What a proposal went through that ends the autonomy of its operations.
SETBACKS: Mapping[str, str] = {
    "reject": "People said no to it.",
    "override": "People did something else instead.",
    "undo": "A person took it back.",
    "roll_back": "It was taken back.",
}
REDECLARED = "The controller was declared anew."


def earned(controller: int, generation: int) -> Earned:
    """Return what a controller may do without asking: pairs of an operation and a domain."""
    rows = Autonomy.objects.filter(
        controller=controller, generation=generation, ended_at=None
    ).values_list("operation", "domain")
    return frozenset(rows)


def grant(proposal: Proposal, parameters: Mapping[str, Any], now: datetime) -> None:
    """Let a controller do an operation without asking, as two people approved it."""
    row = Resource.objects.get(pk=proposal.resource_id)
    about = {"operation": parameters["operation"], "domain": parameters["domain"]}
    standing = Autonomy.objects.filter(controller=row, ended_at=None, **about)
    finish(standing.exclude(generation=row.generation), REDECLARED, SYSTEM, now)
    _, new = Autonomy.objects.get_or_create(
        controller=row,
        ended_at=None,
        **about,
        defaults={"generation": row.generation, "proposal": proposal, "granted_at": now},
    )
    if new:
        tell(row, "autonomy-granted", about | {"proposal": proposal.pk}, SYSTEM, now)


def take_back(proposal: Proposal, actor: Actor, now: datetime) -> None:
    """End what a promotion granted, because it is undone."""
    rows = Autonomy.objects.filter(proposal=proposal, ended_at=None)
    finish(rows, "The promotion was undone.", actor, now)


def demote(proposal: Proposal, verb: str, actor: Actor, now: datetime) -> None:
    """End the autonomy that a proposal speaks against, in the transaction that moves it."""
    why = SETBACKS.get(verb)
    if why is None or proposal.controller_id is None:
        return
    done = {each["operation"] for each in proposal.actions}
    rows = Autonomy.objects.filter(
        controller=proposal.controller_id,
        operation__in=done,
        domain=proposal.resource.domain,
        ended_at=None,
    )
    finish(rows, f"{why} proposal/{proposal.pk}.", actor, now)


def overridden(resource: int, actor: Actor, now: datetime) -> None:
    """End the autonomy of whatever was done to a resource that a person now overrides."""
    done = Proposal.objects.filter(
        resource=resource,
        controller__autonomy__ended_at=None,
        executed_at__gte=F("controller__autonomy__granted_at"),
    )
    for each in done.select_related("resource").distinct():
        demote(each, "override", actor, now)


def finish(rows: Any, why: str, actor: Actor, now: datetime) -> int:
    """End some autonomy; each is told once."""
    ended = 0
    for row in rows.select_related("controller"):
        mine = Autonomy.objects.filter(pk=row.pk, ended_at=None)
        if mine.update(ended_at=now, ended_by=str(actor), end_reason=why):
            about = {"operation": row.operation, "domain": row.domain, "reason": why}
            tell(row.controller, "autonomy-ended", about, actor, now)
            ended += 1
    return ended


def redeclared() -> Any:
    """Return what stands under a declaration that is no longer the one in force."""
    rows = Autonomy.objects.filter(ended_at=None)
    return rows.exclude(generation=F("controller__generation"), controller__deleted_at=None)


def standing(controller: int) -> Iterable[Autonomy]:
    """Return what a controller was ever granted, the latest first."""
    return Autonomy.objects.filter(controller=controller).order_by("-pk")


def tell(row: Resource, event: str, payload: Mapping[str, Any], by: Actor, now: datetime) -> None:
    """Write what became of a controller's autonomy into its chain."""
    severity = "warning" if event == "autonomy-ended" else "info"
    entry = ledger.Entry(
        f"controller/{row.uid}", f"controller.{event}", str(row), payload, severity=severity
    )
    ledger.append([entry], actor=by, now=now)
