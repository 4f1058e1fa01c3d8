"""Telemetry: whether its events arrive, fit their contract, and keep its alert rule quiet."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from controllers.engine.document_values import (
    duration,
    figure,
    later,
    moment,
    number,
    section,
    soonest,
    text,
    texts,
)
from controllers.engine.explanation import explain
from controllers.engine.finding_text import missed, shown
from controllers.engine.target import Target
from controllers.engine.terms import Condition, Document, Drift, Resource, Snapshot, Step

MOST_ERRORS = 0.05
_DAY = timedelta(days=1)
_COUNT, _ERRORS = "events.count", "events.errorRate"


def _equal(value: float, bound: float) -> bool:
    return math.isclose(value, bound, rel_tol=1e-9)


_HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "eq": _equal,
}
_WORDS = {"gt": "above", "gte": "from", "lt": "below", "lte": "up to", "eq": "at"}


class _Rule(NamedTuple):
    """An alert rule; what it describes is the bad state."""

    metric: str
    operator: str
    bound: float
    window: timedelta


def _rule(target: Resource) -> _Rule | None:
    condition = section(_declared(target), "condition")
    comparison, bound = text(condition.get("operator")), number(condition.get("value"))
    if comparison not in _HOLDS or bound is None:
        return None
    window = duration(condition.get("window")) or _DAY
    return _Rule(text(condition.get("metric")), comparison, bound, window)


def _declared(target: Resource) -> Document:
    return section(section(target.spec, "observability"), "alertRule")


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    target, rule = snapshot.target, _rule(snapshot.target)
    return [*_emitting(target, rule, now), *(_quiet(target, rule, now) if rule else ())]


def _emitting(target: Resource, rule: _Rule | None, now: datetime) -> Iterator[Condition]:
    errors = number(target.status.get("errorRate"))
    silent_from = _silent_from(target, rule)
    if silent_from and silent_from <= now:
        yield Condition("EmittingNormally", "False", "Silent", _last(target))
    elif errors is not None:
        message = f"Error rate {figure(errors)}, limit {MOST_ERRORS}."
        if errors > MOST_ERRORS:
            yield Condition("EmittingNormally", "False", "Errors", message)
        else:
            yield Condition("EmittingNormally", "True", "Emitting", message)
    elif silent_from:
        yield Condition("EmittingNormally", "True", "Emitting", _last(target))


def _silent_from(target: Resource, rule: _Rule | None) -> datetime | None:
    """Return when silence is wrong: only a rule against too few events expects any at all."""
    if rule is None or rule.metric != _COUNT or rule.operator not in ("lt", "lte"):
        return None
    return _window_ends(target, rule)


def _window_ends(target: Resource, rule: _Rule) -> datetime | None:
    """Return when the last event leaves the window of a rule."""
    last = moment(target.status.get("lastEmitted"))
    return later(last, rule.window) if last else None


def _last(target: Resource) -> str:
    window = text(section(_declared(target), "condition").get("window")) or "1d"
    return f"The last event was at {text(target.status['lastEmitted'])}, window {window}."


def _quiet(target: Resource, rule: _Rule, now: datetime) -> Iterator[Condition]:
    value = _measured(target, rule, now)
    if value is None:
        return
    limit = f"{_WORDS[rule.operator]} {figure(rule.bound)}"
    message = f"{rule.metric} is {figure(value)}, the rule alerts {limit}."
    if _HOLDS[rule.operator](value, rule.bound):
        yield Condition("AlertRuleQuiet", "False", "Alerting", message)
    else:
        yield Condition("AlertRuleQuiet", "True", "Quiet", message)


def _measured(target: Resource, rule: _Rule, now: datetime) -> float | None:
    """Return the figure a rule asks for; fields of payloads are not part of the status."""
    if rule.metric == _ERRORS:
        return number(target.status.get("errorRate"))
    rate = number(target.status.get("eventRate"))
    if rule.metric != _COUNT or rate is None:
        return None
    end = _window_ends(target, rule)
    return 0 if end and end <= now else number(rate * (rule.window / _DAY))


def _steps(snapshot: Snapshot, drift: Drift, _: datetime) -> Sequence[Step]:
    target, wrong = snapshot.target, missed(drift, "health")
    steps = []
    if "EmittingNormally" in wrong:
        steps.append(_open_incident(target, shown(wrong["EmittingNormally"].note)))
    if "AlertRuleQuiet" in wrong:
        steps.append(_alert(target, shown(wrong["AlertRuleQuiet"].note)))
    return steps


def _open_incident(target: Resource, why: str) -> Step:
    source = section(target.spec, "source")
    return Step(
        operation="open-incident",
        parameters={
            "event": text(target.spec.get("event")),
            "domain": text(source.get("domain")),
            "agent": text(source.get("agent")),
        },
        kind="notify",
        risk="low",
        reversible=True,
        why=f"{target.name}: {why}",
        otherwise=f"Whatever reads {text(target.spec.get('event'))} works with gaps.",
    )


def _alert(target: Resource, why: str) -> Step:
    rule = _declared(target)
    severity = text(rule.get("severity")) or text(target.spec.get("severity")) or "warning"
    return Step(
        operation="alert",
        parameters={
            "event": text(target.spec.get("event")),
            "severity": severity,
            "channels": [*texts(rule, "channels")],
        },
        kind="notify",
        risk="low",
        reversible=True,
        why=f"{target.name}: {why}",
        otherwise=f"The alert rule of {target.name} fires and nobody hears it.",
    )


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    target, rule = snapshot.target, _rule(snapshot.target)
    counts = rule is not None and rule.metric == _COUNT
    return soonest((_window_ends(target, rule),), now) if rule and counts else None


TARGET = Target(
    kind="Telemetry",
    observations=_observations,
    steps=_steps,
    explain=explain,
    recheck=_recheck,
)
