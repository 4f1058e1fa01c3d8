"""Alerts: what people are told rings once, and is over when what it was about is over.

Each alert leaves a message for its channel in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from controllers.common import bulk_insert
from controllers.models import Alert
from controllers.notifications import delivery
from controllers.workqueue.cycle_effects import Notice
from resources.tables.models import Resource

# What a message is headed by, for each reason.
HEADS = {
    "Drift": "has drifted",
    "FirstLook": "looked for the first time",
    "Error": "could not do its work",
    "TimedOut": "took too long",
    "Silent": "has fallen silent",
    "BreakerOpen": "has stopped",
    "Parked": "is parked",
    "NotConverging": "does not converge",
    "BudgetThreshold": "reaches a threshold",
    "BudgetExceeded": "is spent",
    "AgentOverspend": "is beyond an agent's share",
    "RuleBroken": "is broken",
}
# Of these people also hear when they are over.
LOUD = ("error", "critical")


def raise_all(
    controller: int, notices: Sequence[Notice], correlation_id: str, now: datetime
) -> None:
    """Raise alerts; one in other words takes the place of the one before, the same stays."""
    if not notices:
        return
    wanted = {(each.resource, each.reason, each.channel): each for each in notices}
    standing = still_open(controller, {each.resource for each in notices})
    about = {(each.resource, each.reason) for each in notices}
    same = {key for key, each in standing.items() if wanted.get(key) == as_notice(each)}
    replaced = [each.pk for key, each in standing.items() if key[:2] in about and key not in same]
    Alert.objects.filter(pk__in=replaced).update(resolved_at=now)
    raised = [
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
        for key, each in wanted.items()
        if key not in same
    ]
    bulk_insert.create(raised)
    if raised:
        delivery.tell_all(messages(raised), now)


def messages(raised: Sequence[Alert]) -> list[delivery.Message]:
    """Write each alert as a message to its channel."""
    names = names_of({each.resource_id for each in raised})
    return [
        delivery.Message(
            each.channel,
            f"{each.severity.capitalize()}: {names[each.resource_id]} {head_of(each)}",
            each.message,
            each.severity,  # type: ignore[arg-type]
            f"alert/{each.pk}",
            alert=each,
        )
        for each in raised
    ]


def head_of(alert: Alert) -> str:
    """Say in a few words what an alert is about."""
    # Of several rules each has an alert of its own.
    word = alert.reason.partition(":")[0]
    return HEADS.get(word, f"needs attention: {alert.reason}")


def names_of(keys: Collection[int]) -> dict[int, str]:
    """Return what resources are called."""
    found = Resource.objects.filter(pk__in=keys).only("kind", "name")
    return {each.pk: str(each) for each in found}


def still_open(controller: int, resources: Collection[int]) -> dict[tuple[int, str, str], Alert]:
    """Return the open alerts about resources, by resource, reason and channel."""
    found = Alert.objects.filter(
        controller=controller, resource__in=resources, resolved_at=None
    ).only("resource_id", "reason", "channel", "severity", "message")
    return {(each.resource_id, each.reason, each.channel): each for each in found}


def as_notice(alert: Alert) -> Notice:
    """Return what an alert says."""
    about = alert.resource_id, alert.reason, alert.channel
    return Notice(*about, alert.severity, alert.message)  # type: ignore[arg-type]


def resolve(
    controller: int, resources: Collection[int], now: datetime, reasons: set[str] | None = None
) -> None:
    """End the open alerts about resources."""
    if not resources:
        return
    open_alerts = Alert.objects.filter(
        controller=controller, resource__in=resources, resolved_at=None
    )
    if reasons is not None:
        open_alerts = open_alerts.filter(reason__in=reasons)
    ended = list(open_alerts.order_by("pk"))
    if not ended:
        return
    open_alerts.update(resolved_at=now)
    if loud := [each for each in ended if each.channel and each.severity in LOUD]:
        delivery.tell_all(farewells(loud), now)


def farewells(ended: Sequence[Alert]) -> list[delivery.Message]:
    """Say of alerts that they are over."""
    names = names_of({each.resource_id for each in ended})
    return [
        delivery.Message(
            each.channel,
            f"Over: {names[each.resource_id]} {head_of(each)}",
            f"It is over: {each.message}",
            "info",
            f"alert/{each.pk}/over",
            alert=each,
        )
        for each in ended
    ]
