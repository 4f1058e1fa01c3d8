"""What stands now: one query, by the clock, whether or not anybody has swept up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import F, Q, QuerySet

from controllers.common.clocks import current
from controllers.common.rows import Prepared, Slot, at
from controllers.engine import due_times, precedence
from controllers.engine.precedence import Reach, Standing
from controllers.models import Epoch, Hold, Runtime
from resources.tables.models import Resource

# There is one epoch, and one row of it.
ONLY = 1
ADVANCE = """
    INSERT INTO controllers_epoch (id, value) VALUES (%s, 1)
    ON CONFLICT (id) DO UPDATE SET value = controllers_epoch.value + 1 RETURNING value
"""
# The columns that make a `Standing`, in its order.
SAID = (
    "pk",
    "kind",
    "scope",
    "reason",
    "author",
    "domain",
    "controller",
    "resource",
    "path",
    "ends_at",
    "in_flight",
)


def epoch() -> int:
    """Return how often the holds have changed."""
    return Epoch.objects.filter(pk=ONLY).values_list("value", flat=True).first() or 0


def advance() -> int:
    """Count a change of the holds; whoever changes them next waits for this one's end."""
    with connection.cursor() as cursor:
        cursor.execute(ADVANCE, [ONLY])
        value: int = cursor.fetchone()[0]
    return value


def standing(now: datetime) -> tuple[Standing, ...]:
    """Return every hold in force."""
    return tuple(in_force(Hold.objects.all(), now))


def covering(reach: Reach, now: datetime) -> Standing | None:
    """Return the hold that stands in the way of an action, the widest statement first."""
    near = Hold.objects.filter(
        Q(scope=Hold.Scope.ORGANISATION)
        | Q(scope=Hold.Scope.DOMAIN, domain=reach.domain)
        | Q(scope=Hold.Scope.CONTROLLER, controller=reach.controller)
        | Q(scope__in=[Hold.Scope.RESOURCE, Hold.Scope.FIELD], resource=reach.resource)
    )
    return precedence.strongest(in_force(near, now), reach)


def concerning(
    controller: int, targets: QuerySet[Resource], now: datetime
) -> tuple[Standing, ...]:
    """Return every hold in force that may stop what a controller does to its targets."""
    near = Hold.objects.filter(
        Q(scope=Hold.Scope.ORGANISATION)
        | Q(scope=Hold.Scope.CONTROLLER, controller=controller)
        | Q(scope=Hold.Scope.DOMAIN, domain__in=targets.order_by().values("domain"))
        | Q(scope__in=[Hold.Scope.RESOURCE, Hold.Scope.FIELD], resource__in=targets.values("pk"))
    )
    return tuple(in_force(near.order_by("pk"), now))


def in_force(holds: QuerySet[Hold], now: datetime) -> Iterator[Standing]:
    """Yield those that stand; a freeze that comes back stands while its window is open."""
    for *said, window, moment in lasting(holds, now).values_list(*SAID, "window", "at"):
        found = Standing(*said)
        if window:
            opening = opening_of(window, moment)
            if opening is None:
                continue
            found = found._replace(ends_at=min(opening.end, found.ends_at or opening.end))
        yield found


def lasting(holds: QuerySet[Hold], now: datetime) -> Any:
    """Keep those that have begun and are not over, with the time that was held against them."""
    begun = Q(starts_at=None) | Q(starts_at__lte=F("at"))
    not_over = Q(ends_at=None) | Q(ends_at__gt=F("at"))
    return holds.filter(ended_at=None).annotate(at=current(now)).filter(begun, not_over)


def opening_of(window: Mapping[str, str], at: datetime) -> due_times.Opening | None:
    """Return since when and until when a freeze is on, if it is."""
    found = due_times.window(window["cron"], window["timezone"], window["duration"])
    return due_times.opened(found, at) if found else None


def only_proposes(controller: int, now: datetime) -> bool:
    """Tell whether a controller may only propose, because a hold ended since its last full look.

    One whose end has passed counts before anybody has written that down.
    """
    return bool(PROPOSING(controller=controller) or OVER(now=now))


def over(now: datetime | Slot) -> QuerySet[Hold]:
    """Return the holds whose end has passed and is not written down yet."""
    return Hold.objects.filter(ended_at=None, ends_at__lte=current(now))


def proposing(controller: int | Slot) -> QuerySet[Runtime]:
    """Return a controller that may only propose until it has looked at everything again."""
    return Runtime.objects.filter(pk=controller, only_proposes_from__isnull=False)


# Asked in every cycle, and nearly always in vain.
PROPOSING = Prepared(lambda: proposing(Slot("controller")).values_list("pk")[:1])
OVER = Prepared(lambda: over(at("now")).order_by().values_list("pk")[:1])
