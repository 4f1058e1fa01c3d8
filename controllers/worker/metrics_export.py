"""What a scrape gets: the counts of this process, and what is read from the database right then.

Who may scrape is one rule, wherever the numbers are served.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.db import Error
from django.db.models import Count, Min, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, Metric, generate_latest
from prometheus_client.registry import Collector

from controllers.engine.proposal_lifecycle import OPEN
from controllers.loop import watchdog
from controllers.models import Delivery, Hold, Proposal
from controllers.worker import housekeeping
from controllers.workqueue import queue
from resources.observability import metrics
from resources.observability.metrics import Rows
from resources.tables.models import Checkpoint, LedgerEvent

logger = logging.getLogger("ioa.metrics")

# How a proxy says that it speaks for somebody else: then the caller's address is not theirs.
PROXIED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
NEVER = float("inf")
Numbers = dict[tuple[str, ...], float]
MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4


def permitted(headers: Mapping[str, str], address: str) -> bool:
    """Tell whether somebody may read the metrics: by the token, or without one from here."""
    if settings.METRICS_TOKEN:
        given = headers.get("Authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, f"Bearer {settings.METRICS_TOKEN}".encode())
    return is_near(address) and not any(name in headers for name in PROXIED)


def is_near(address: str) -> bool:
    """Tell whether an address is this machine's own."""
    try:
        given = ip_address(address)
    except ValueError:
        return False
    mapped = given.ipv4_mapped if isinstance(given, IPv6Address) else None
    return (mapped or given).is_loopback


def page() -> bytes:
    """Write everything as Prometheus reads it."""
    return generate_latest(Everything())


class Everything(Collector):
    """What this process counted, then what the database says."""

    def collect(self) -> Iterator[Metric]:
        """Read it all; a database that does not answer is itself a number."""
        yield from metrics.registry.collect()
        try:
            found, up = list(stored(timezone.now())), 1
        except Error as error:
            logger.warning("The database cannot be measured: %s", error)
            found, up = [], 0
        yield told(metrics.DATABASE_UP, {(): up})
        yield from found


def told(rows: Rows, numbers: Numbers) -> Metric:
    """Write numbers by their labels."""
    family = rows.family()
    for labels, number in numbers.items():
        family.add_metric(labels, number)
    return family


def stored(now: datetime) -> Iterator[Metric]:
    """Read what is in the database, each thing with one statement."""
    yield from loop(now)
    yield from proposals(now)
    yield from outbox(now)
    held = Hold.objects.filter(ended_at=None).values_list("kind").annotate(count=Count("pk"))
    yield told(metrics.HOLDS, dict.fromkeys(named(Hold.Kind.values), 0.0) | by_label(held))
    yield told(metrics.UNSIGNED_AGE, {(): age(unsigned_since(), now)})


def loop(now: datetime) -> Iterator[Metric]:
    """Read how the loop gets on."""
    seen = housekeeping.heartbeat()
    yield told(metrics.HEARTBEAT_AGE, {(): age(seen, now) if seen else NEVER})
    waiting = queue.backlog(now)
    yield told(metrics.QUEUE_AGE, {(): waiting.pop("oldestSeconds")})
    yield told(metrics.QUEUE, by_label(waiting.items()))
    yield told(metrics.CONTROLLERS, by_label(watchdog.census().items()))


def proposals(now: datetime) -> Iterator[Metric]:
    """Read what waits for people, or for its end."""
    awake = Q(quiet_until=None) | Q(quiet_until__lte=now)
    rows = list(
        Proposal.objects.filter(state__in=OPEN)
        .values_list("state")
        .annotate(count=Count("pk"), oldest=Min("created_at", filter=awake))
    )
    none = dict.fromkeys(named(OPEN), 0.0)
    yield told(metrics.PROPOSALS, none | {(state,): count for state, count, _ in rows})
    ages = {(state,): age(oldest, now) for state, _, oldest in rows}
    yield told(metrics.PROPOSAL_AGE, none | ages)


def outbox(now: datetime) -> Iterator[Metric]:
    """Read what is on its way to people, or did not get there."""
    state = Delivery.State
    rows = {
        word: (count, oldest)
        for word, count, oldest in Delivery.objects.filter(
            state__in=[state.WAITING, state.GIVEN_UP]
        )
        .values_list("state")
        .annotate(count=Count("pk"), oldest=Min("created_at"))
    }
    waiting, oldest = rows.get(state.WAITING, (0, None))
    failed, _ = rows.get(state.GIVEN_UP, (0, None))
    yield told(metrics.OUTBOX, {("waiting",): waiting, ("failed",): failed})
    yield told(metrics.OUTBOX_AGE, {(): age(oldest, now)})


def unsigned_since() -> datetime | None:
    """Return when the oldest entry was written that no checkpoint has signed."""
    last = Checkpoint.objects.order_by("-number").values("upto")[:1]
    unsigned = LedgerEvent.objects.filter(pk__gt=Coalesce(Subquery(last), 0))
    return unsigned.order_by("pk").values_list("at", flat=True).first()


def named(words: Iterable[str]) -> list[tuple[str, ...]]:
    """Return words as labels."""
    return [(word,) for word in words]


def by_label(pairs: Iterable[tuple[str, float]]) -> Numbers:
    """Return counts by their one label."""
    return {(word,): count for word, count in pairs}


def age(since: datetime | None, now: datetime) -> float:
    """Return the seconds since then; none when there is nothing."""
    return max(0.0, (now - since).total_seconds()) if since else 0.0
