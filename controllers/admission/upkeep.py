"""What the clock and people bring about: answers arrive, permits end, breaches are told."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet

from controllers.admission import admission_ledger, human_answers, permits, violations
from controllers.admission.question import give_back, judged
from controllers.admission.requests import as_asked
from controllers.common.clocks import current
from controllers.common.rows import Prepared, at
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Admission, Endpoint, Violation
from controllers.operations import webhooks
from controllers.operations.catalogue.permission import PERMIT
from resources.documents.actor import SYSTEM
from resources.store import store
from resources.tables import ledger
from resources.tables.models import Resource
from resources.usecases import statuses

State = Admission.State
MOST = 200
TRIES = 5
CALL_LASTS = timedelta(seconds=10)
NO_SESSION = timedelta(0)


def sweep(now: datetime) -> int:
    """Do what somebody waits for; return how much that was."""
    return answer(now) + lapse(now) + tell_agents(now)


def look_after(now: datetime) -> int:
    """Do what nobody waits for; return how much that was."""
    return miss(now) + violations.close(now) + tell_policies(now)


def answer(now: datetime) -> int:
    """Answer the questions that people have decided: yes with a permit, or no."""
    found = chosen(DECIDED())
    for row in found:
        with suppress(store.Stale):
            if human_answers.approved(row):
                judged(as_asked(row), row, NO_SESSION, now)
                Admission.objects.filter(pk=row.pk).update(tell_at=now)
            else:
                human_answers.refused(row, now)
    return len(found)


def chosen(found: Sequence[tuple[int]]) -> list[Admission]:
    """Return some rows with what they are about; usually there are none, and that is cheap."""
    if not found:
        return []
    keys = [row[0] for row in found]
    related = ("agent", "target", "proposal")
    return list(Admission.objects.select_related(*related).filter(pk__in=keys).order_by("pk"))


def some(rows: QuerySet[Admission]) -> QuerySet[Admission, tuple[int]]:
    """Ask for some of the rows."""
    return rows.order_by().values_list("pk")[:MOST]


def decided() -> QuerySet[Admission]:
    """Return the questions that people have answered."""
    undecided = Q(proposal__state__in=[each for each in OPEN if each not in human_answers.GIVEN])
    return Admission.objects.filter(state=State.WAITING).exclude(undecided)


# Asked in every round, and nearly always in vain.
DECIDED = Prepared(lambda: some(decided()))
LAPSED = Prepared(
    lambda: some(Admission.objects.filter(state=State.ALLOWED, expires_at__lte=current(at("now"))))
)
UNTOLD = Prepared(lambda: some(Admission.objects.filter(tell_at__lte=at("now"))))


def lapse(now: datetime) -> int:
    """End permits that nobody used, and give back what was set aside for them."""
    found = chosen(LAPSED(now=now))
    return sum(end(row, State.LAPSED, "admission.lapsed", now) for row in found)


def miss(now: datetime) -> int:
    """Note permits that were used and never reported: what is set aside for them stays so."""
    long_ago = now - permits.SETTLED_WITHIN
    rows = Admission.objects.filter(state=State.REDEEMED, redeemed_at__lte=long_ago)
    found = chosen(list(some(rows)))
    return sum(end(row, State.UNREPORTED, "admission.unreported", now) for row in found)


def end(row: Admission, state: str, event: str, now: datetime) -> bool:
    """Move one row, if it is still as it was read."""
    with store.all_or_stale():
        same = Admission.objects.filter(pk=row.pk, state=row.state, issued=row.issued)
        kept = row.reserved if state == State.UNREPORTED else []
        if not same.update(state=state, reserved=kept, changed_at=now):
            return False
        if state == State.LAPSED:
            give_back(row)
        loud = "warning" if state == State.UNREPORTED else "info"
        payload = admission_ledger.about(row, admission_ledger.on_of(row))
        entry = admission_ledger.entry(row.agent, event, payload, loud)
        ledger.append([entry], actor=SYSTEM, now=now)
    return True


def tell_policies(now: datetime) -> int:
    """Write what was broken into the statuses of policies."""
    untold = Violation.objects.filter(policy__kind="SecurityPolicy").filter(
        Q(told_times=0) | Q(closed_at__isnull=False, told_closed=False) | moved()
    )
    keys = sorted(set(untold.values_list("policy", flat=True)[:MOST]))
    for key in keys:
        with suppress(store.Stale):
            publish(key, now)
    return len(keys)


def moved() -> Q:
    """Select what was repeated since it was told."""
    return Q(times__gt=F("told_times")) | Q(blocked__gt=F("told_blocked"))


def publish(key: int, now: datetime) -> None:
    """Write a policy's status: what is open, and how often its rules were broken and held."""
    with store.all_or_stale():
        # Of two who tell at once the second sees what the first has told.
        policy = Resource.objects.select_for_update(no_key=True).get(pk=key)
        rows = list(Violation.objects.filter(policy=policy).select_related("agent").order_by("pk"))
        report = statuses.Report(policy.kind, policy.name, status_of(policy, rows))
        if policy.deleted_at is None:
            statuses.observe([report], actor=SYSTEM, now=now)
        for each in rows:
            each.told_times, each.told_blocked = each.times, each.blocked
            each.told_closed = each.closed_at is not None
        Violation.objects.bulk_update(rows, ["told_times", "told_blocked", "told_closed"])


def status_of(policy: Resource, rows: list[Violation]) -> dict[str, Any]:
    """Add what was found here to what a policy's status says; others may report too."""
    said = policy.status
    known = said.get("openViolations")
    others = [
        each
        for each in (known if isinstance(known, list) else [])
        if not (isinstance(each, dict) and each.get("source") == "admission")
    ]
    standing = [as_document(each) for each in rows if each.closed_at is None]
    return {
        "openViolations": [*others, *standing],
        "violations": len(others) + len(standing),
        "violationsTotal": whole(said.get("violationsTotal"))
        + sum(each.times - each.told_times for each in rows),
        "blockedOperations": whole(said.get("blockedOperations"))
        + sum(each.blocked - each.told_blocked for each in rows),
    }


def whole(value: Any) -> int:
    """Return a count; what is none counts as nothing."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def as_document(row: Violation) -> dict[str, Any]:
    """Write an open violation as a status does."""
    return {
        "rule": row.rule,
        "agent": row.agent.name,
        "resource": row.asset or row.target,
        "operation": row.operation,
        "times": row.times,
        "openedAt": ledger.instant(row.opened_at),
        "source": "admission",
    }


def tell_agents(now: datetime) -> int:
    """Call the machines of agents whose questions were answered; each is tried a few times."""
    told = 0
    for row in chosen(UNTOLD(now=now)):
        endpoint = endpoint_of(row.agent)
        again = now + timedelta(seconds=10 * 2**row.tell_attempts)
        claimed = Admission.objects.filter(
            pk=row.pk, tell_at=row.tell_at, tell_attempts=row.tell_attempts
        ).update(tell_at=again if endpoint else None, tell_attempts=row.tell_attempts + 1)
        if claimed and endpoint is not None:
            told += call(row, endpoint, now)
    return told


def endpoint_of(agent: Resource) -> Endpoint | None:
    """Return the machine an administrator entered for an agent: it has the agent's name."""
    found = Endpoint.objects.filter(name=agent.name, enabled=True).first()
    return found if found is not None and PERMIT in found.operations else None


def call(row: Admission, endpoint: Endpoint, now: datetime) -> bool:
    """Tell a machine that a question was answered; the permit itself is fetched by its agent."""
    body = {
        "type": "ioa.admission",
        "timestamp": ledger.instant(now),
        "data": {
            "id": row.pk,
            "agent": row.agent.name,
            "operation": row.operation,
            "resource": admission_ledger.on_of(row),
            "decision": "denied" if row.state == State.DENIED else "allowed",
            "digest": row.digest,
        },
    }
    key = f"admission-{row.uid}"
    reply = webhooks.call(endpoint, body, key=key, deadline=now + CALL_LASTS, now=now)
    if reply.ok or row.tell_attempts + 1 >= TRIES:
        Admission.objects.filter(pk=row.pk).update(tell_at=None)
    return reply.ok
