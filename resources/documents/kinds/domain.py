"""Domain: a bounded context of the organisation, with its goals, data and events."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from resources.documents.durations import parse_duration
from resources.documents.kind import V01, V02, Document, Kind, Link, conditions
from resources.documents.paths import objects, rename, rewrite

_OPERATORS = {
    ">": "gt",
    ">=": "gte",
    "≥": "gte",
    "<": "lt",
    "<=": "lte",
    "≤": "lte",
    "=": "eq",
    "==": "eq",
    None: "gte",
}
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", None: ""}
_TARGET = re.compile(
    r"([<>]=?|==?|[≥≤])?\s*([$€£¥])?\s*"
    r"([0-9]{1,3}(?:,[0-9]{3}){1,4}(?:\.[0-9]*)?|[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?![0-9.,])\s*(.*)"
)


def parse_target(text: str) -> Document | None:
    """Read a KPI target such as `>= 95%`; without an operator it is a floor."""
    match = _TARGET.fullmatch(text)
    if not match:
        return None
    operator, currency, number, rest = match.groups()
    value = float(number.replace(",", ""))
    return {
        "operator": _OPERATORS[operator],
        "value": int(value) if value.is_integer() else value,
        "unit": f"{_CURRENCIES[currency]} {rest}".strip(),
    }


def _structured(kpi: Any) -> Any:
    target = kpi.get("target") if isinstance(kpi, dict) else None
    parsed = parse_target(target) if isinstance(target, str) else None
    if not parsed:
        return kpi
    parsed["unit"] = parsed["unit"] or kpi.get("unit", "")
    return {**{key: kpi[key] for key in kpi if key != "unit"}, "target": parsed}


def _data_asset(name: str) -> Document:
    return {"name": name, "classification": "internal"}


def _migrate(document: Document) -> None:
    rewrite(document, "spec.kpis[]", _structured)


def _tolerate(document: Document) -> None:
    rename(document, "status.costToDate.cost", "value")
    for velocity in objects(document, "status.decisionVelocity"):
        average = velocity.get("avgTimeToDecision")
        duration = parse_duration(average) if isinstance(average, str) else None
        if duration is not None and "avgLeadTimeDays" not in velocity:
            velocity["avgLeadTimeDays"] = duration / timedelta(days=1)
            del velocity["avgTimeToDecision"]


KIND = Kind(
    name="Domain",
    path="domain",
    folder="domains",
    title="Domain",
    plural="Domains",
    icon="globe",
    order=1,
    versions=(V01, V02),
    own_conditions=conditions(
        KPIsMet="Every KPI with an observation meets its target.",
        BudgetHealthy="Spending is within its budgets.",
        SecurityCompliant="No rule of its security policies is violated.",
        AgentsAvailable="As many agents are active as are bound to it.",
        HealthReported="Its reported health is neither degraded nor critical.",
        CognitiveLoadHealthy="Its cognitive load is at most 0.75.",
        IncidentsWithinLimit="It has at most two active incidents.",
    ),
    domain_path="metadata.name",
    links=(
        Link("spec.agents[]", "Agent", "warning", "8"),
        Link("spec.budgetRef", "Budget", "warning", "9"),
        Link("spec.securityPolicyRef", "SecurityPolicy", "warning", "10"),
        Link("spec.events.produces[]", "event", "info", "20"),
        Link("spec.events.consumes[]", "event", "info", "20"),
    ),
    declares=(
        ("kpi", "spec.kpis[].name"),
        ("asset", "spec.dataOwnership[].name"),
        ("asset", "spec.dataOwnership[]"),
    ),
    unions={"spec.dataOwnership": _data_asset},
    tolerate=_tolerate,
    migrate=_migrate,
)
