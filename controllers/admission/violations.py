"""Rules that agents break: each opens once, counts, and closes when it is over."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet

from controllers.engine.admission import Finding
from controllers.engine.terms import Severity
from controllers.models import Violation
from controllers.notifications import alerts
from controllers.workqueue.cycle_effects import Notice
from resources.tables import ledger
from resources.tables.models import Resource

# What nobody has repeated for so long is over.
QUIET = timedelta(hours=24)
INJECTION = "Injection"
# As much as one round closes.
MOST = 500


class Deed(NamedTuple):
    """What an agent did, or asked to do."""

    agent: Resource
    operation: str
    target: str
    asset: str = ""


def record(
    findings: Sequence[Finding], deed: Deed, now: datetime, *, blocked: bool = False
) -> list[ledger.Entry]:
    """Count broken rules and open those that were not open; return what the ledger hears."""
    entries: list[ledger.Entry] = []
    if not findings:
        return entries
    keys = {each.policy for each in findings}
    policies = Resource.objects.in_bulk(keys)
    for each in findings:
        policy = policies.get(each.policy)
        if policy is None:
            continue
        refused = blocked and each is findings[0]
        opened = note(policy, each, deed, refused, now)
        entries += told(policy, each, deed, opened, refused)
        if opened and each.mode in ("warn", "enforce"):
            ring(policy, each, deed, now)
    return entries


def note(policy: Resource, found: Finding, deed: Deed, refused: bool, now: datetime) -> bool:
    """Count a rule that was broken; tell whether it was not broken before."""
    standing = Violation.objects.filter(
        policy=policy, rule=found.rule, agent=deed.agent, closed_at=None
    )
    if standing.update(
        times=F("times") + 1,
        blocked=F("blocked") + int(refused),
        last_at=now,
        generation=policy.generation,
        operation=deed.operation,
        reason=found.reason,
    ):
        return False
    Violation.objects.create(
        policy=policy,
        rule=found.rule,
        agent=deed.agent,
        code=found.code,
        target=deed.target[:300],
        asset=deed.asset,
        operation=deed.operation,
        reason=found.reason,
        generation=policy.generation,
        opened_at=now,
        last_at=now,
        blocked=int(refused),
    )
    return True


def told(
    policy: Resource, found: Finding, deed: Deed, opened: bool, refused: bool
) -> Iterable[ledger.Entry]:
    """Yield what the ledger hears: an injection each time, any other rule when it opens."""
    stream, who = f"resource/{policy.uid}", str(deed.agent)
    if found.code == INJECTION:
        action = "block" if refused else "warn" if found.mode == "warn" else "log"
        payload = {"agent": deed.agent.name, "pattern": found.reason, "action": action}
        yield ledger.Entry(
            stream, "system.security_injection_detected", who, payload, "alert", "warning"
        )
    if opened:
        payload = {
            "policyName": policy.name,
            "violation": found.rule,
            "agent": deed.agent.name,
            "severity": severity(found),
            "reason": found.reason,
        }
        yield ledger.Entry(
            stream, "system.security_violation_detected", who, payload, "alert", severity(found)
        )


def severity(found: Finding) -> Severity:
    """Say how loud a broken rule is."""
    return "error" if found.mode == "enforce" else "warning" if found.mode == "warn" else "info"


def ring(policy: Resource, found: Finding, deed: Deed, now: datetime) -> None:
    """Alert people that a rule is broken; it rings once while it stays so."""
    message = f"{deed.agent}: {found.reason}"
    notice = Notice(policy.pk, reason_of(found.rule), "", severity(found), message)
    story = ledger.correlation.get() or str(uuid.uuid4())
    alerts.raise_all(policy.pk, [notice], story, now)


def close(now: datetime) -> int:
    """Close what nobody repeats, and what was broken under a policy that is declared anew."""
    standing = Violation.objects.filter(closed_at=None)
    anew = standing.exclude(generation=F("policy__generation"))
    closed = end(anew, "The rules were declared anew.", now)
    return closed + end(standing.filter(last_at__lte=now - QUIET), "It was not repeated.", now)


def end(rows: QuerySet[Violation], because: str, now: datetime) -> int:
    """Close rows, and the alerts about them."""
    found = list(rows.order_by("pk").values_list("pk", "policy", "rule")[:MOST])
    if not found:
        return 0
    with transaction.atomic():
        keys = [key for key, _, _ in found]
        Violation.objects.filter(pk__in=keys, closed_at=None).update(
            closed_at=now, closed_because=because
        )
        for policy in sorted({policy for _, policy, _ in found}):
            rules = {reason_of(rule) for _, its, rule in found if its == policy}
            alerts.resolve(policy, [policy], now, rules)
    return len(found)


def reason_of(rule: str) -> str:
    """Return what an alert about a rule is filed under."""
    return f"RuleBroken:{rule}"[:100]
