"""Governance: whether it is complied with, and whether a person can step in, and in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from controllers.engine.document_values import (
    duration,
    items,
    later,
    moment,
    number,
    section,
    soonest,
    text,
    texts,
)
from controllers.engine.explanation import explain
from controllers.engine.finding_text import listed, missed, shown
from controllers.engine.target import Target
from controllers.engine.terms import Condition, Document, Drift, Resource, Snapshot, Step, Word

# The way for a person to step in is to be tried every month, where nothing else is declared.
DRILL_EVERY = timedelta(days=31)
_COMPLIANT: Mapping[str, tuple[Word, str]] = {
    "compliant": ("True", "Compliant"),
    "non-compliant": ("False", "NonCompliant"),
    "under-review": ("Unknown", "UnderReview"),
}
_URGENT = ("Compliant", "OverrideResponsive")


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    target = snapshot.target
    return [*_compliant(target), *_responsive(target, now), *_tested(target, now)]


def _compliant(target: Resource) -> Iterator[Condition]:
    reported = text(target.status.get("complianceStatus"))
    if reported in _COMPLIANT:
        status, reason = _COMPLIANT[reported]
        yield Condition("Compliant", status, reason, f"Reported {reported}{_standards(target)}.")


def _standards(target: Resource) -> str:
    standards = texts(section(target.spec, "compliance"), "standards")
    return f" for {listed(standards)}" if standards else ""


def _responsive(target: Resource, now: datetime) -> Iterator[Condition]:
    end = _answer_due(target)
    if end is None:
        return
    since, limit = _request(target), text(_override(target)["maxResponseTime"])
    message = f"The oldest request to step in is open since {since}, limit {limit}."
    if end <= now:
        yield Condition("OverrideResponsive", "False", "TooSlow", message)
    else:
        yield Condition("OverrideResponsive", "True", "InTime", message)


def _override(target: Resource) -> Document:
    return section(target.spec, "humanOverride")


def _request(target: Resource) -> str:
    return text(target.status.get("oldestOpenOverrideRequest"))


def _answer_due(target: Resource) -> datetime | None:
    opened = moment(_request(target))
    limit = duration(_override(target).get("maxResponseTime"))
    return later(opened, limit) if opened and limit else None


def _tested(target: Resource, now: datetime) -> Iterator[Condition]:
    override, end = _override(target), _drill_due(target)
    if end is None:
        if override and override.get("enabled") is not False:
            message = "No test of the way to step in has been reported."
            yield Condition("OverrideTested", "Unknown", "NeverReported", message)
        return
    last = text(target.status["lastOverrideTest"])
    message = f"Last tested at {last}, to be tested every {_interval(target)}."
    if end <= now:
        yield Condition("OverrideTested", "False", "TestOverdue", message)
    else:
        yield Condition("OverrideTested", "True", "Tested", message)


def _drill_due(target: Resource) -> datetime | None:
    last, enabled = moment(target.status.get("lastOverrideTest")), _override(target).get("enabled")
    every = duration(_override(target).get("drillEvery")) or DRILL_EVERY
    return later(last, every) if last and enabled is not False else None


def _interval(target: Resource) -> str:
    """Say how often the way to step in is to be tried."""
    declared = _override(target).get("drillEvery")
    return text(declared) if duration(declared) else f"{DRILL_EVERY.days} days"


def _steps(snapshot: Snapshot, drift: Drift, _: datetime) -> Sequence[Step]:
    target, wrong = snapshot.target, missed(drift, "health")
    steps = []
    urgent = [shown(wrong[name].note) for name in _URGENT if name in wrong]
    if urgent:
        steps.append(_escalate(target, " ".join(urgent)))
    if "OverrideTested" in wrong:
        steps.append(_drill(target, shown(wrong["OverrideTested"].note)))
    return steps


def _escalate(target: Resource, why: str) -> Step:
    path = _path(target)
    role = text(path.get("role")) or "the owner"
    return Step(
        operation="escalate",
        parameters={
            "governance": target.name,
            "domain": target.domain,
            "role": role,
            "channels": [channel] if (channel := text(path.get("channel"))) else [],
        },
        kind="notify",
        risk="low",
        reversible=True,
        why=f"{target.name}: {why}",
        otherwise=f"{role} does not learn that {target.name} is not kept.",
    )


def _path(target: Resource) -> Document:
    """Return where an escalation starts: the default path, else the lowest level."""
    escalation = section(target.spec, "escalation")
    paths = sorted(items(escalation, "paths"), key=_level)
    default = text(escalation.get("defaultPath"))
    named = [each for each in paths if default in (each.get("role"), *_names(each))]
    return next(iter(named or paths), {})


def _level(path: Document) -> float:
    return number(path.get("level")) or 0


def _names(path: Document) -> tuple[str, str]:
    return f"{_level(path):g}", f"level-{_level(path):g}"


def _drill(target: Resource, why: str) -> Step:
    channels = texts(_override(target), "channels")
    return Step(
        operation="run-override-drill",
        parameters={
            "governance": target.name,
            "domain": target.domain,
            "channels": [*channels],
        },
        kind="notify",
        risk="low",
        reversible=True,
        why=f"{target.name}: {why}",
        otherwise=f"Nobody knows whether {listed(channels) or 'a person'} still stops an agent.",
    )


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    target = snapshot.target
    return soonest((_answer_due(target), _drill_due(target)), now)


TARGET = Target(
    kind="Governance",
    observations=_observations,
    steps=_steps,
    explain=explain,
    recheck=_recheck,
)
