"""Alerts: what people are told rings once, and is over when what it was about is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from controllers.effects import Notice
from controllers.models import Alert


def raise_all(
    controller: int, notices: Sequence[Notice], correlation_id: str, now: datetime
) -> None:
    """Raise alerts; one that says the same in other words takes the place of the one before."""
    if not notices:
        return
    spoken = {each.resource for each in notices}
    reasons = {each.reason for each in notices}
    resolve(controller, list(spoken), now, reasons)
    fresh = {(each.resource, each.reason, each.channel): each for each in notices}
    Alert.objects.bulk_create(
        Alert(
            controller_id=controller,
            resource_id=each.resource,
            reason=each.reason,
            channel=each.channel,
            severity=each.severity,
            message=each.message,
            correlation_id=correlation_id,
            raised_at=now,
        )
        for each in fresh.values()
    )


def resolve(
    controller: int, resources: Sequence[int], now: datetime, reasons: set[str] | None = None
) -> None:
    """End the open alerts about resources."""
    if not resources:
        return
    open_alerts = Alert.objects.filter(
        controller=controller, resource__in=resources, resolved_at=None
    )
    if reasons is not None:
        open_alerts = open_alerts.filter(reason__in=reasons)
    open_alerts.update(resolved_at=now)
