"""Which conditions are bad news: each type says which of its states is the good one."""

from __future__ import annotations

from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from resources.documents import kinds
from resources.documents.kind import Kind
from resources.tables.models import Condition


def is_bad(kind: Kind | None, type_: str, status: str) -> bool:
    """Tell whether a condition is in its bad state; Unknown is neither."""
    good = (
        next((each.good for each in kind.condition_types if each.name == type_), "True")
        if kind
        else "True"
    )
    return status != "Unknown" and status != good


def bad_conditions() -> QuerySet[Condition]:
    """Return the conditions of live resources that are in their bad state."""
    return (
        Condition.objects.filter(reduce(or_, map(bad_of, kinds.ALL)), resource__deleted_at=None)
        .select_related("resource")
        .order_by("resource__kind", "resource__name", "type")
    )


def bad_of(kind: Kind) -> Q:
    """Build the condition for one kind; a type it does not know is good when True."""
    negative = [each.name for each in kind.condition_types if each.good == "False"]
    turned = Q(type__in=negative, status="True")
    return Q(turned | (Q(status="False") & ~Q(type__in=negative)), resource__kind=kind.name)
