"""The outbox: a message is a row, written in the transaction of what it is about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from controllers.common import bulk_insert
from controllers.engine.terms import Severity
from controllers.models import Alert, Delivery, Hold, Proposal
from resources.store import announcements

TITLE, BODY = 300, 4_000


@dataclass(frozen=True)
class Message:
    """What one channel is to be told; the key names it, and the same one is told once."""

    channel: str
    title: str
    body: str
    severity: Severity
    key: str
    alert: Alert | None = None
    proposal: Proposal | None = None
    hold: Hold | None = None


def tell(  # noqa: PLR0913 - a message has as many parts
    channel: str,
    *,
    title: str,
    body: str,
    severity: Severity,
    key: str,
    now: datetime,
    alert: Alert | None = None,
    proposal: Proposal | None = None,
    hold: Hold | None = None,
) -> None:
    """Put a message into the outbox; one that was told before is nothing."""
    tell_all([Message(channel, title, body, severity, key, alert, proposal, hold)], now)


def tell_all(messages: Iterable[Message], now: datetime) -> None:
    """Put messages into the outbox with one statement, in the caller's transaction."""
    rows = [row_of(each, now) for each in messages]
    if rows:
        bulk_insert.create_missing(rows)
        announcements.announce()


def row_of(message: Message, now: datetime) -> Delivery:
    """Make the row of a message; without a channel it stays in the product."""
    state = Delivery.State.WAITING if message.channel else Delivery.State.IN_APP
    return Delivery(
        alert=message.alert,
        proposal=message.proposal,
        hold=message.hold,
        key=digest(message.key),
        channel=message.channel,
        severity=message.severity,
        title=cut(message.title, TITLE),
        body=cut(message.body, BODY),
        state=state,
        run_at=now,
        created_at=now,
    )


def digest(key: str) -> str:
    """Return what a message is known by, here and by the services that can tell."""
    return hashlib.sha256(key.encode()).hexdigest()


def cut(text: str, most: int) -> str:
    """Shorten a text that would not fit."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
