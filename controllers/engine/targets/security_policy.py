"""SecurityPolicy: its violations, its threat level and its audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from controllers.engine.document_values import (
    duration,
    items,
    later,
    moment,
    policy_compliance,
    section,
    soonest,
    text,
    texts,
)
from controllers.engine.explanation import explain
from controllers.engine.target import Target
from controllers.engine.terms import (
    Compliance,
    Condition,
    Document,
    Drift,
    Resource,
    Snapshot,
    Step,
)

_ACCEPTABLE = ("none", "low", "medium")
_ALARMING = ("high", "critical")
# One plan withdraws at most so many accesses; the next cycle sees what is left.
MOST_REVOKED = 20
_NO_TIME = timedelta(0)


def _compliance(snapshot: Snapshot, _: datetime) -> Sequence[Compliance]:
    return policy_compliance((snapshot.target,))


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    return [*_threat(snapshot.target.status), *_audit(snapshot.target, now)]


def _threat(status: Document) -> Iterator[Condition]:
    level = status.get("threatLevel")
    if level in _ACCEPTABLE:
        yield Condition("ThreatLevelAcceptable", "True", level.title(), f"Threat level {level}.")
    elif level in _ALARMING:
        yield Condition("ThreatLevelAcceptable", "False", level.title(), f"Threat level {level}.")


def _audit(policy: Resource, now: datetime) -> Iterator[Condition]:
    due = _audit_due(policy)
    if due is not None:
        last, interval = policy.status["lastAudit"], policy.spec["auditInterval"]
        message = f"Last audit at {last}, one is due every {interval}."
        if now >= due:
            yield Condition("AuditCurrent", "False", "AuditOverdue", message)
        else:
            yield Condition("AuditCurrent", "True", "Audited", message)


def _audit_due(policy: Resource) -> datetime | None:
    interval = duration(policy.spec.get("auditInterval"))
    last = moment(policy.status.get("lastAudit"))
    return later(last, interval) if last and interval and interval > _NO_TIME else None


def _steps(snapshot: Snapshot, drift: Drift, now: datetime) -> Sequence[Step]:
    policy = snapshot.target
    violated = any(each.violations > 0 for each in _compliance(snapshot, now))
    steps = [*_block(snapshot, drift), *_revoke(policy)] if violated else []
    if drift.causes or violated:
        steps.append(_escalate(snapshot, drift))
    return steps


def _block(snapshot: Snapshot, drift: Drift) -> Iterator[Step]:
    policy = snapshot.target
    offenders = {text(each.get("agent")) for each in items(policy.status, "openViolations")}
    agents = sorted(offenders - {""})
    if _blocks(section(policy.spec, "blocked"), agents):
        return
    parameters = {"policy": policy.name, "domain": policy.domain, "agents": agents}
    yield Step(
        operation="block-operations",
        parameters=parameters,
        kind="block",
        risk="medium",
        reversible=True,
        why=explain(snapshot, drift),
        otherwise=f"The rules of {policy.name} can be broken again.",
        rollback={"operation": "unblock-operations", "parameters": parameters},
    )


def _blocks(standing: Document, agents: list[str]) -> bool:
    """Tell whether a block covers these agents already; one that names nobody covers all."""
    if not standing:
        return False
    named = texts(standing, "agents")
    return not named or (bool(agents) and set(agents) <= set(named))


def _revoke(policy: Resource) -> Iterator[Step]:
    """Withdraw the access that was used for more than it allows."""
    for (agent, resource), times in _offences(policy).most_common(MOST_REVOKED):
        parameters = {"policy": policy.name, "agent": agent, "resource": resource}
        yield Step(
            operation="revoke-data-scope",
            parameters=parameters,
            kind="change",
            risk="medium",
            reversible=True,
            why=f"Open violations of its scope of {resource} by {agent}: {times}.",
            otherwise=f"{agent} keeps its access to {resource}.",
            touches=("spec.dataScopes",),
            rollback={"operation": "grant-data-scope", "parameters": parameters},
        )


def _offences(policy: Resource) -> Counter[tuple[str, str]]:
    """Count the open violations of scopes by agent and resource, where there is access to lose."""
    granted = {
        (agent, text(scope.get("resource")))
        for scope in items(policy.spec, "dataScopes")
        for agent in texts(scope, "allowedAgents")
    }
    pairs = (
        (text(each.get("agent")), text(each.get("resource")))
        for each in items(policy.status, "openViolations")
        if text(each.get("rule")).startswith("dataScopes")
    )
    return Counter(pair for pair in pairs if pair in granted)


def _escalate(snapshot: Snapshot, drift: Drift) -> Step:
    policy = snapshot.target
    return Step(
        operation="escalate",
        parameters={"policy": policy.name, "domain": policy.domain},
        kind="notify",
        risk="low",
        reversible=True,
        why=explain(snapshot, drift),
        otherwise=f"Those who answer for {policy.domain} do not learn about it.",
    )


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    return soonest((_audit_due(snapshot.target),), now)


TARGET = Target(
    kind="SecurityPolicy",
    compliance=_compliance,
    observations=_observations,
    steps=_steps,
    explain=explain,
    recheck=_recheck,
)
