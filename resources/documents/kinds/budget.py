"""Budget: how many tokens and how much money a domain may spend in a period."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from math import fsum
from typing import Any, TypeGuard

from resources.documents.durations import parse_period, period_text
from resources.documents.kind import MODES, Document, Fault, Kind, Link, conditions
from resources.documents.paths import at, objects, rename, rewrite, texts
from resources.documents.weakening import as_loud, lost, rank, weaker

_PERIOD_HINT = "must be a period such as 2026-Q1, 2026-02, monthly or 2026-01-01/2026-03-31"


def _checks(document: Document) -> Iterator[Fault]:
    for pointer, text in texts(document, "spec.period"):
        if parse_period(text, date(2000, 1, 1)) is None:
            yield Fault(pointer, _PERIOD_HINT, "warning")
    shares = [share for _, share in at(document, "spec.agents[].allocation") if _is_number(share)]
    if shares and fsum(shares) > 1 + 1e-9:
        message = f"must share out at most 1 in all, not {fsum(shares):g}"
        yield Fault("/spec/agents", message, rule="17")


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(period: Any) -> Any:
    """`{start, end}` becomes the name of the month or quarter, or `start/end`."""
    if not isinstance(period, dict):
        return period
    try:
        first, last = (date.fromisoformat(period[key]) for key in ("start", "end"))
    except (KeyError, TypeError, ValueError):
        return period
    return period_text(first, last)


def _tolerate(document: Document) -> None:
    rewrite(document, "spec.period", _named)
    rename(document, "status.consumed.value", "cost")
    for status in objects(document, "status"):
        percent = status.get("utilizationPercent")
        if _is_number(percent) and "utilizationRate" not in status:
            status["utilizationRate"] = percent / 100
            del status["utilizationPercent"]
        if "tokensConsumed" in status and "consumed" not in status:
            status["consumed"] = {"tokens": status.pop("tokensConsumed")}


def _lowered(before: Document, after: Document) -> Iterator[Fault]:
    """Say which guards a change weakens: the mode, or an alert that rings later or less."""
    yield from weaker(before, after, "spec.enforcement", rank(MODES, "warn"))
    yield from lost(
        before,
        after,
        "spec.alerts",
        lambda old, new: new["threshold"] <= old["threshold"] and as_loud(old, new),
    )


KIND = Kind(
    name="Budget",
    path="budget",
    folder="budgets",
    title="Budget",
    plural="Budgets",
    icon="wallet",
    order=3,
    own_conditions=conditions(
        BudgetHealthy="Consumption is within its limits.",
        BelowAlertThreshold="No alert threshold of warning or worse is crossed.",
        ProjectedWithinBudget="At this pace the period ends within its limits.",
        AllocationsRespected="No agent uses more than its share.",
    ),
    links=(
        Link("spec.domain", "Domain", "error", "17"),
        Link("spec.agents[].name", "Agent", "warning", "17"),
    ),
    own_checks=_checks,
    lowered=_lowered,
    tolerate=_tolerate,
)
