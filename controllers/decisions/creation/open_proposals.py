"""The open proposals about resources, read as far as a look at them asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from controllers.common.rows import Prepared, Slot, listed, these
from controllers.decisions.creation.plan_diff import UNDER_WAY
from controllers.decisions.creation.proposal_end import begun
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Proposal
from resources.tables.models import Resource

# The rest of a row is read when it is written.
READ = {
    *("id", "uid", "resource_id", "thread_id", "state", "lock", "revision", "actions"),
    *("action_digest", "planned_digest", "basis_digest", "lane", "risk", "people", "held"),
    *("held_reason", "score", "urgency", "quiet_above", "undoing", "outcome"),
    *("confirmed_at", "changed_at", "executed_at"),
}
# How far apart keys may lie for the stretch between them to be read as one.
SPREAD = 4


class Standing(NamedTuple):
    """The open proposals about one resource: those that wait, and those that have begun."""

    waiting: Sequence[Proposal]
    begun: Sequence[Proposal]


NOTHING = Standing((), ())


def _open() -> QuerySet[Proposal, Any]:
    """Ask for the open proposals of a controller."""
    rows = Proposal.objects.filter(controller=Slot("controller"), state__in=OPEN)
    found = rows.annotate(touched=begun()).order_by("pk")
    return found.values_list("touched", "resource__kind", "resource__name", *columns())


def _open_about() -> QuerySet[Proposal, Any]:
    """Ask for those about some resources."""
    return _open().filter(resource__in=these(Slot("keys")))


def _open_between() -> QuerySet[Proposal, Any]:
    """Ask for those about a stretch of resources."""
    return _open().filter(resource__gte=Slot("first"), resource__lte=Slot("last"))


@cache
def columns() -> tuple[str, ...]:
    """Return the columns that looks ask for, in the order of the table."""
    fields = [each.attname for each in Proposal._meta.concrete_fields]
    return tuple(name for name in fields if name in READ)


OPEN_ABOUT = Prepared(_open_about)
OPEN_BETWEEN = Prepared(_open_between)


def standing_rows(controller: int, keys: Collection[int]) -> Iterable[Any]:
    """Read the rows of open proposals about some resources."""
    if not keys:
        return
    first, last = min(keys), max(keys)
    if last - first > SPREAD * len(keys):
        yield from OPEN_ABOUT(controller=controller, keys=listed(keys))
        return
    at = 3 + columns().index("resource_id")
    for row in OPEN_BETWEEN(controller=controller, first=first, last=last):
        if row[at] in keys:
            yield row


def read(controller: int, keys: Collection[int]) -> dict[int, Standing]:
    """Read the open proposals of a controller about some resources, as far as looks ask for it."""
    found: dict[int, tuple[list[Proposal], list[Proposal]]] = {}
    for touched, kind, name, *values in standing_rows(controller, keys):
        each = Proposal.from_db(DEFAULT_DB_ALIAS, columns(), values)
        about = (each.resource_id, kind, name)
        each.resource = Resource.from_db(DEFAULT_DB_ALIAS, ("id", "kind", "name"), about)
        going_on = touched or each.undoing or each.state in UNDER_WAY
        found.setdefault(each.resource_id, ([], []))[going_on].append(each)
    return {key: Standing(*each) for key, each in found.items()}
