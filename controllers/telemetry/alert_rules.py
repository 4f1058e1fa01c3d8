"""Alert rules of contracts: people hear once that one holds, and once that it is over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import transaction

from controllers.engine.document_values import MEETS, duration, number, section, text, texts
from controllers.engine.programs import Program, compile_condition
from controllers.models import Alert, TelemetryEvent
from controllers.notifications import alerts
from controllers.telemetry import event_counts
from controllers.telemetry.contracts import Cache
from controllers.telemetry.event_counts import Figures
from controllers.workqueue.cycle_effects import Notice
from resources.documents.actor import SYSTEM
from resources.documents.expressions import Check, read_action
from resources.documents.expressions.syntax import Invalid
from resources.documents.kind import Document
from resources.store import announcements
from resources.tables import ledger
from resources.tables.models import Resource

RULE = "AlertRule"
DAY = timedelta(days=1)
COUNT, ERRORS, RATE = "events.count", "events.errorRate", "events.perMinute"
WORDS = {"gt": "above", "gte": "from", "lt": "below", "lte": "up to", "eq": "at"}


class Rule(NamedTuple):
    """An alert rule; what it describes is the bad state."""

    contract: Resource
    metric: str
    operator: str
    bound: float
    window: timedelta
    expression: str
    severity: str
    channels: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What it says; the same as long as it holds, so that it rings once."""
        if self.expression:
            return f"{self.expression} holds for {self.contract}."
        limit = f"{WORDS[self.operator]} {self.bound:g}"
        return f"{self.metric} of {self.contract} is {limit} within {self.window}."


def listen(now: datetime) -> int:
    """Raise the alerts of the rules that hold, end the others; return how many changed."""
    rules: list[Rule] = RULES.read()
    held = {each.contract.pk: each for each in rules}
    values = measured(rules, now)
    firing = {key for key, rule in held.items() if holds(rule, values[key])}
    standing = set(
        Alert.objects.filter(reason=RULE, resolved_at=None).values_list("resource", flat=True)
    )
    for key in sorted(firing - standing):
        ring(held[key], values[key], now)
    for key in sorted(standing - firing):
        silence(key, now)
    return len(firing ^ standing)


def rule_of(row: Resource) -> Rule | None:
    """Read the rule of a contract."""
    said = section(section(row.spec, "observability"), "alertRule")
    condition = section(said, "condition")
    expression, bound = text(condition.get("expression")), number(condition.get("value"))
    comparison, metric = text(condition.get("operator")), text(condition.get("metric"))
    if not expression and (comparison not in MEETS or bound is None or not metric):
        return None
    return Rule(
        row,
        metric,
        comparison,
        bound or 0.0,
        duration(condition.get("window")) or DAY,
        expression,
        text(said.get("severity")) or text(row.spec.get("severity")) or "warning",
        tuple(texts(said, "channels")) or ("",),
    )


RULES = Cache("Telemetry", rule_of)


def measured(rules: Sequence[Rule], now: datetime) -> dict[int, dict[str, Any]]:
    """Return what each rule may ask about: one question for each length of a window."""
    by_window: dict[timedelta, list[Rule]] = defaultdict(list)
    for each in rules:
        by_window[each.window].append(each)
    found: dict[int, dict[str, Any]] = {}
    for window, some in by_window.items():
        figures = event_counts.within(window, now, [each.contract.pk for each in some])
        for each in some:
            counted = figures.get(each.contract.pk, Figures())
            found[each.contract.pk] = {
                COUNT: counted.received,
                ERRORS: counted.error_rate,
                RATE: counted.received / (window.total_seconds() / 60),
            }
    for each in rules:
        if each.metric and each.metric not in found[each.contract.pk]:
            found[each.contract.pk][each.metric] = last_value(each, now)
    return found


def last_value(rule: Rule, now: datetime) -> float | None:
    """Return the last value of a field of payloads within the window."""
    rows = TelemetryEvent.objects.filter(
        contract=rule.contract.pk, received_at__gt=now - rule.window
    )
    value: Any = rows.order_by("-received_at", "-pk").values_list("payload", flat=True).first()
    for step in rule.metric.removeprefix("payload.").split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return number(value)


def holds(rule: Rule, values: Mapping[str, Any]) -> bool:
    """Tell whether a rule holds; what is not known alarms nobody."""
    if rule.expression:
        program = compiled(rule.expression)
        return program is not None and program.check(context(rule, values))[0] is True
    value = values.get(rule.metric)
    return value is not None and MEETS[rule.operator](value, rule.bound)


@lru_cache(maxsize=256)
def compiled(expression: str) -> Program | None:
    """Compile an expression of the checked language; nothing when it is none."""
    try:
        asked = read_action(f"check {expression}", "Telemetry")
        return compile_condition(asked.condition) if isinstance(asked, Check) else None
    except Invalid:
        return None


def context(rule: Rule, values: Mapping[str, Any]) -> Document:
    """Return what an expression sees: `telemetry.status.events.count` and its like."""
    events = {name.partition(".")[2]: value for name, value in values.items()}
    return {"telemetry": {"spec": rule.contract.spec, "status": {"events": events}}}


def ring(rule: Rule, values: Mapping[str, Any], now: datetime) -> None:
    """Tell people that a rule holds, and the ledger with which value."""
    contract = rule.contract
    notices = [
        Notice(contract.pk, RULE, channel, rule.severity, rule.sentence)  # type: ignore[arg-type]
        for channel in rule.channels
    ]
    value = values if rule.expression else values.get(rule.metric)
    payload = {
        "eventName": text(contract.spec.get("event")),
        "alertRule": rule.sentence,
        "severity": rule.severity,
        "value": value,
    }
    with transaction.atomic():
        told = tell(contract, "telemetry.alert-triggered", payload, rule.severity, now)
        # Nobody but the resource itself watches: the alert is its own.
        alerts.raise_all(contract.pk, notices, told, now)


def silence(key: int, now: datetime) -> None:
    """Say that a rule no longer holds, or is no longer declared."""
    contract = Resource.objects.get(pk=key)
    with transaction.atomic():
        tell(contract, "telemetry.alert-resolved", {"eventName": contract.name}, "info", now)
        alerts.resolve(key, [key], now, {RULE})


def tell(
    contract: Resource, event: str, payload: dict[str, Any], severity: str, now: datetime
) -> str:
    """Write what a rule brought about into the contract's chain; return the story's name."""
    stream = f"resource/{contract.uid}"
    entry = ledger.Entry(stream, event, str(contract), payload, "alert", severity)
    (told,) = ledger.append([entry], actor=SYSTEM, now=now)
    announcements.announce()
    return told.correlation_id
