"""Send what is due: one lane for each channel, so that a slow service holds only itself.

A lane is a thread that takes its channel's messages in the order they were told. It claims a
message with one conditional update, sends it outside any transaction and writes down what became
of it. A worker that is lost in between leaves a claim that ends; the message is then sent again.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, transaction
from django.db.models import Exists, F, Q, QuerySet

from controllers.common import secrets
from controllers.common.rows import Prepared, Slot, at
from controllers.models import Channel, Delivery
from controllers.notifications.delivery import services
from controllers.notifications.delivery.outbox import digest, tell
from controllers.notifications.delivery.services import Letter
from resources.observability import metrics, spans

logger = logging.getLogger("ioa.delivery")

MOST = 50
# How long the caller waits; a lane that takes longer goes on by itself.
BUDGET_SECONDS = 2.0
CLAIM = timedelta(seconds=30)
# A lane that has not heard from its service for so long counts as failing.
DEADLINE_SECONDS = 10.0
FIRST, LONGEST = timedelta(seconds=5), timedelta(minutes=10)
SPREAD = 0.1
ATTEMPTS = 12
# A message that failed so often no longer keeps those behind it waiting.
PATIENCE = 3
SILENT = "The service has not answered for ten seconds."
UNREADABLE = "The channel's address cannot be decrypted: set it again."


class Lane(threading.Thread):
    """Serves one channel until nothing is due or something fails."""

    def __init__(self, channel: str, now: datetime, most: int) -> None:
        super().__init__(name="ioa-delivery", daemon=True)
        self.channel, self.now, self.most = channel, now, most
        self.began = self.since = time.monotonic()
        self.sent = 0

    @property
    def late(self) -> bool:
        """Whether the message on the wire has been there for too long."""
        return time.monotonic() - self.since > DEADLINE_SECONDS

    def moment(self) -> datetime:
        """Return the time by the caller's clock."""
        return self.now + timedelta(seconds=time.monotonic() - self.began)

    def run(self) -> None:
        """Send one message after the other."""
        try:
            while self.sent < self.most and self.step():
                self.sent += 1
        except DatabaseError:
            logger.exception("What became of a message could not be recorded.")
        finally:
            connection.close()

    def step(self) -> bool:
        """Send the next message; tells whether one went out."""
        self.since = time.monotonic()
        delivery = take(self.channel, self.moment())
        if delivery is None:
            return False
        error = attempt(delivery)
        record(delivery, error, self.moment())
        return not error


lanes: dict[str, Lane] = {}
opening = threading.Lock()


def send_due(now: datetime, *, most: int = MOST) -> int:
    """Send what is due, up to `most` on each channel; return how many went out so far."""
    names = [row[0] for row in WITH_MESSAGES(now=now)]
    if not names:
        return 0
    mapped = set(
        Channel.objects.filter(name__in=names, enabled=True).values_list("name", flat=True)
    )
    keep(set(names) - mapped, now)
    ends = time.monotonic() + BUDGET_SECONDS
    opened = [lane for name in sorted(mapped) if (lane := open_lane(name, now, most))]
    for lane in opened:
        lane.join(max(0.0, ends - time.monotonic()))
    return sum(lane.sent for lane in opened)


def send_one(key: int, now: datetime) -> Delivery:
    """Send one message now if nobody else does, and return what became of it."""
    delivery = Delivery.objects.get(pk=key)
    if not Channel.objects.filter(name=delivery.channel, enabled=True).exists():
        keep({delivery.channel}, now)
    elif claim(delivery, now):
        began = time.monotonic()
        error = attempt(delivery)
        record(delivery, error, now + timedelta(seconds=time.monotonic() - began))
    delivery.refresh_from_db()
    return delivery


def free(now: datetime | Slot) -> Q:
    """Select what no worker has on the wire."""
    return Q(claimed_until=None) | Q(claimed_until__lte=now)


def waiting(now: datetime | Slot) -> QuerySet[Delivery]:
    """Return what is to be sent."""
    due = Delivery.objects.filter(state=Delivery.State.WAITING, run_at__lte=now)
    return due.filter(free(now)).order_by()


# Asked in every round, and nearly always in vain.
WITH_MESSAGES = Prepared(lambda: waiting(at("now")).values_list("channel").distinct())


def keep(channels: set[str], now: datetime) -> None:
    """Leave in the product what no service takes."""
    if channels:
        stranded = Delivery.objects.filter(free(now), channel__in=channels)
        stranded.filter(state=Delivery.State.WAITING).update(state=Delivery.State.IN_APP)


def open_lane(channel: str, now: datetime, most: int) -> Lane | None:
    """Begin to serve a channel, unless it is being served; one that hangs is failing."""
    with opening:
        lane = lanes.get(channel)
        if lane is not None and lane.is_alive():
            if lane.late and (delivery := take(channel, now)) is not None:
                record(delivery, SILENT, now)
            return None
        lane = lanes[channel] = Lane(channel, now, most)
        lane.start()
        return lane


def take(channel: str, now: datetime) -> Delivery | None:
    """Claim the channel's next message; nothing while an earlier one is not through."""
    waiting = Delivery.objects.filter(channel=channel, state=Delivery.State.WAITING).order_by("pk")
    ahead = waiting.filter(Q(claimed_until__gt=now) | Q(run_at__gt=now, attempts__lt=PATIENCE))
    due: QuerySet[Delivery] = waiting.filter(free(now), run_at__lte=now)
    first = ahead.values_list("pk", flat=True).first()
    found = (due if first is None else due.filter(pk__lt=first)).first()
    if found is None:
        return None
    # Another worker may have taken the one before since it was looked for.
    return found if claim(found, now, Exists(ahead.filter(pk__lt=found.pk))) else None


def claim(delivery: Delivery, now: datetime, behind: Exists | None = None) -> bool:
    """Take a message for this worker, unless it is behind another; of many one succeeds."""
    until = now + CLAIM
    same = Delivery.objects.filter(
        free(now), pk=delivery.pk, state=Delivery.State.WAITING, attempts=delivery.attempts
    )
    if behind is not None:
        same = same.filter(~behind)
    if not same.update(claimed_until=until, attempts=F("attempts") + 1):
        return False
    delivery.claimed_until, delivery.attempts = until, delivery.attempts + 1
    return True


def attempt(delivery: Delivery) -> str:
    """Send a message to its service; return what went wrong, or nothing."""
    kept = Channel.objects.filter(name=delivery.channel).values_list("address", flat=True).first()
    if kept is None:
        return "The channel is no longer there."
    try:
        address = secrets.decrypt(kept)
    except secrets.Unreadable:
        return UNREADABLE
    began = time.perf_counter()
    with spans.span("call", to=delivery.channel):
        error = services.send(address, letter_of(delivery))
    taken = time.perf_counter() - began
    metrics.CALL_SECONDS.labels("channel", "failed" if error else "done").observe(taken)
    return error


def letter_of(delivery: Delivery) -> Letter:
    """Write a message as it goes out; what is about one alert belongs together."""
    told = (delivery.title, delivery.body, delivery.severity, delivery.key)
    if delivery.alert_id is None:
        return Letter(*told, thread=delivery.key)
    about = f"alert/{delivery.alert_id}"
    return Letter(*told, thread=digest(about), closes=delivery.key == digest(f"{about}/over"))


def record(delivery: Delivery, error: str, now: datetime) -> None:
    """Write down what became of a message."""
    row = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING)
    channel = Channel.objects.filter(name=delivery.channel)
    with transaction.atomic():
        if not error:
            row.update(state=Delivery.State.SENT, sent_at=now, claimed_until=None, error="")
            channel.exclude(failed_at=None).update(failed_at=None, error="")
            return
        # Whoever claimed it since knows better.
        row = row.filter(claimed_until=delivery.claimed_until)
        channel.update(failed_at=now, error=error)
        if delivery.attempts < ATTEMPTS:
            again = now + pause(delivery.attempts)
            row.update(run_at=again, claimed_until=None, error=error)
        elif row.update(state=Delivery.State.GIVEN_UP, claimed_until=None, error=error):
            tell_of_failure(delivery, error, now)


def pause(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts."""
    jitter = random.random()  # noqa: S311 - spreads retries only
    return min(FIRST * (1 << attempts - 1), LONGEST) * (1 + SPREAD * jitter)


def tell_of_failure(delivery: Delivery, error: str, now: datetime) -> None:
    """Tell people in the product that a message did not get out."""
    tell(
        "",
        title=f"Not delivered to {delivery.channel}: {delivery.title}",
        body=f"It was tried {delivery.attempts} times. {error}\n\n{delivery.body}",
        severity="error",
        key=f"given up/{delivery.key}",
        now=now,
        alert=delivery.alert,
        proposal=delivery.proposal,
        hold=delivery.hold,
    )
