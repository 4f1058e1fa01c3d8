"""May I? One transaction: the locks, the facts, the guards, what is set aside, and the record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import transaction

from controllers import budgets
from controllers.admission import admission_ledger, human_answers, permits, violations
from controllers.admission.admission_facts import gather
from controllers.admission.requests import Request, ResolvedRequest, as_ask, found
from controllers.budgets.budget_status import as_read
from controllers.decisions import holds, locks
from controllers.engine import admission as engine
from controllers.engine import allowances
from controllers.engine.admission import Facts, Verdict
from controllers.engine.allowances import Allowance
from controllers.models import Admission
from resources.documents.problems import conflict
from resources.store import store
from resources.tables import ledger
from resources.tables.models import AgentToken, Resource

State = Admission.State
ATTEMPTS = 5
SPENT = {"BudgetSpent", "ShareSpent", "TokensSpent"}
# What is answered once and for all under one name of a request.
ANSWERED = (State.DENIED, State.REDEEMED, State.SETTLED, State.UNREPORTED)


def ask(request: Request, token: AgentToken, now: datetime) -> Admission:
    """Answer an agent; the same question under the same name gets the same answer."""
    wanted, session = found(request, token), now - token.created_at
    for _ in range(ATTEMPTS):
        with suppress(store.Stale):
            return answer(wanted, session, now)
    raise store.Stale("Others keep changing the same things. Try again.")


def answer(wanted: ResolvedRequest, session: timedelta, now: datetime) -> Admission:
    """Find the question if it was asked before, or judge it."""
    known = repeated(wanted)
    if known is None:
        return judged(wanted, draft(wanted, now), session, now)
    if known.state in ANSWERED or permits.stands(known, holds.epoch(), now):
        return known
    if known.state == State.WAITING and not human_answers.approved(known):
        return human_answers.refused(known, now) or known
    return judged(wanted, known, session, now)


def repeated(wanted: ResolvedRequest) -> Admission | None:
    """Return the same question, asked before under its name or still waiting for people."""
    rows = Admission.objects.select_related("agent", "target", "proposal")
    mine = rows.filter(agent=wanted.agent)
    if wanted.request.key:
        named = mine.filter(request_key=wanted.request.key).first()
        if named is not None:
            if named.digest != wanted.digest:
                raise conflict("Something else was asked under this Idempotency-Key.")
            return named
    return mine.filter(digest=wanted.digest, state=State.WAITING).first()


def draft(wanted: ResolvedRequest, now: datetime) -> Admission:
    """Begin the record of a question."""
    return Admission(
        agent=wanted.agent,
        request_key=wanted.request.key,
        operation=wanted.request.operation,
        target=wanted.target,
        asset=wanted.asset,
        digest=wanted.digest,
        tokens=wanted.spent.tokens,
        cost=wanted.spent.cost,
        currency=wanted.spent.currency,
        day=now.date(),
        asked_at=now,
        correlation_id=ledger.correlation.get(),
    )


def judged(
    wanted: ResolvedRequest, row: Admission, session: timedelta, now: datetime
) -> Admission:
    """Judge a question in one transaction that no hold can come between."""
    with store.all_or_stale(), ledger.together():
        enter(wanted.agent, wanted.target)
        if row.pk is not None and not taken(row, now):
            raise store.Stale("Somebody else answered it meanwhile.")
        give_back(row)
        ask = as_ask(wanted, session)
        approved = human_answers.approved(row)
        facts = gather(ask, wanted.agent, wanted.target, now, approved=approved)
        verdict = set_aside(row, facts, engine.judge(facts), now)
        written(row, wanted, verdict, now)
        tell_budgets(wanted.agent, facts, verdict, now)
    return row


def enter(agent: Resource, target: Resource) -> None:
    """Take the locks: whatever people say no to meanwhile waits, or was said before."""
    locks.share(agent.domain, None, agent.pk)
    if target.pk != agent.pk:
        locks.share(target.domain, None, target.pk)


def taken(row: Admission, now: datetime) -> bool:
    """Take a question that was asked before, if it is still as it was read."""
    same = Admission.objects.filter(pk=row.pk, state=row.state, issued=row.issued)
    return bool(same.update(changed_at=now))


def give_back(row: Admission) -> None:
    """Give back what was set aside for a permit that was not used."""
    budgets.add(budgets.given_back(row.reserved))
    row.reserved = []


def set_aside(row: Admission, facts: Facts, verdict: Verdict, now: datetime) -> Verdict:
    """Set the cost aside where a budget enforces its limit: of many at once none passes it."""
    if verdict.decision != "allowed":
        return verdict
    hard = [
        (each.allowance, amount)
        for each in facts.used
        if engine.blocks(each.allowance.mode)
        and (amount := facts.ask.cost_in(each.allowance.unit)) > 0
    ]
    try:
        with transaction.atomic():
            row.reserved = budgets.as_document(budgets.reserve(hard, now.date()))
    except budgets.Exhausted as error:
        wanted = facts.ask.cost_in(error.allowance.unit)
        found = engine.spent(error.allowance, error.allowance.most, wanted)
        return verdict._replace(decision="denied", reasons=(found,))
    return verdict


def written(row: Admission, wanted: ResolvedRequest, verdict: Verdict, now: datetime) -> None:
    """Write the answer with everything it brings about."""
    row.changed_at, row.day = now, now.date()
    if verdict.decision == "waiting":
        row.state, verdict = State.WAITING, human_answers.ask_people(row, wanted, verdict, now)
    if verdict.decision == "allowed":
        lasts = permits.APPROVED_LASTS if row.proposal_id else permits.LASTS
        issue(row, now + lasts)
    elif verdict.decision == "denied":
        row.state, row.expires_at = State.DENIED, None
    row.reasons, row.warnings = (
        admission_ledger.said(verdict.reasons),
        admission_ledger.said(verdict.warnings),
    )
    row.save()
    deed = violations.Deed(wanted.agent, row.operation, wanted.on, wanted.asset)
    denied = verdict.decision == "denied"
    broken = violations.record(verdict.breaches, deed, now, blocked=denied)
    entries = [*told(row, wanted, verdict), *broken]
    admission_ledger.append(entries, wanted.agent, now)


def issue(row: Admission, ends: datetime) -> None:
    """Make a permit."""
    row.state, row.expires_at = State.ALLOWED, ends
    row.epoch, row.issued = holds.epoch(), row.issued + 1


def told(row: Admission, wanted: ResolvedRequest, verdict: Verdict) -> Iterator[ledger.Entry]:
    """Yield what the ledger hears of an answer."""
    payload = admission_ledger.about(row, wanted.on) | {
        "warnings": admission_ledger.said(verdict.warnings),
        "notes": admission_ledger.said(verdict.notes),
    }
    if verdict.decision == "denied":
        [why] = verdict.reasons
        payload |= {"code": why.code, "reason": why.reason}
        yield admission_ledger.entry(
            wanted.agent,
            "system.security_access_denied" if why.rule else "admission.denied",
            payload,
            "warning",
        )
    elif verdict.decision == "waiting":
        payload |= {"proposal": row.proposal_id, "reason": verdict.reasons[0].reason}
        yield admission_ledger.entry(wanted.agent, "admission.waiting", payload)
    else:
        loud = "warning" if verdict.warnings else "info"
        yield admission_ledger.entry(wanted.agent, "admission.allowed", payload, loud)


def tell_budgets(agent: Resource, facts: Facts, verdict: Verdict, now: datetime) -> None:
    """Alert people about the budgets that this would pass, or was refused for: once a period."""
    codes = {each.code for each in (*verdict.reasons, *verdict.warnings)}
    if not codes & SPENT:
        return
    passed = [
        (each.allowance, each.amount)
        for each in facts.used
        if each.allowance.mode in ("warn", "enforce")
        and each.amount + facts.ask.cost_in(each.allowance.unit) > each.allowance.most
    ]
    # An agent's own limit is told about the agent.
    rows = Resource.objects.in_bulk({each.budget or agent.pk for each, _ in passed})
    for allowance, amount in passed:
        row = rows[allowance.budget or agent.pk]
        channels = allowances.alarms(as_read(row))[-1].channels
        budgets.tell(row, [mark_of(allowance, amount, channels)], now)


def mark_of(allowance: Allowance, amount: int, channels: tuple[str, ...]) -> budgets.Mark:
    """Say that a budget, or somebody's share of it, is spent."""
    share = amount / allowance.most if allowance.most else 1.0
    used = engine.shown(amount, allowance.unit), engine.shown(allowance.most, allowance.unit)
    own = allowance.holder == "agent"
    whose = f"agent/{allowance.name}" if own else allowance.source
    payload = {
        "limit": allowance.most,
        "consumed": amount,
        "enforcement": allowance.mode,
        **({"agentName": allowance.name} if own else {}),
    }
    return budgets.Mark(
        budgets.OVERSPEND if own else budgets.EXCEEDED,
        allowance.name if own else "1",
        allowance.span,
        share,
        "warning" if own else "critical",
        f"{whose} has used {used[0]} of {used[1]}.",
        channels,
        payload,
    )
