"""A permit is used: once, by its agent, for its content, in its time, and under the same holds."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from controllers.admission import admission_ledger, permits
from controllers.admission.permits import Permit
from controllers.admission.question import enter, give_back
from controllers.admission.requests import Request, found
from controllers.common.clocks import current
from controllers.decisions import holds
from controllers.models import Admission
from resources.documents.problems import Problem, denied, missing
from resources.store import store
from resources.tables import ledger
from resources.tables.models import AgentToken

State = Admission.State


class Objection(NamedTuple):
    """Why a permit does not let something happen."""

    code: str
    reason: str


FORGED = Objection("Forged", "This is no permit of this organisation.")
FOREIGN = Objection("Foreign", "This permit is another agent's.")
OTHER = Objection("OtherContent", "This permit is for something else.")
REPLAYED = Objection("Replayed", "This permit was used before.")
EXPIRED = Objection("Expired", "This permit is over: ask again.")
MOVED = Objection("EpochMoved", "Holds have changed since this permit was made: ask again.")


def redeem(key: int, text: str, request: Request, token: AgentToken, now: datetime) -> Admission:
    """Use a permit; a refusal is recorded before it is raised."""
    permit, row = permits.read(text), mine(key, token)
    if row is None:
        raise unknown(key, permit, token, now)
    digest = found(request, token).digest
    with store.all_or_stale():
        enter(row.agent, row.target)
        # Of many at once one goes on, and the others see what it did.
        row = locked(row.pk)
        why = objection(row, permit, digest, token) or take(row, now)
        admission_ledger.append([told(row, why)], row.agent, now)
    if why is not None:
        raise denied(*why)
    return row


def mine(key: int, token: AgentToken) -> Admission | None:
    """Return a question of an agent."""
    rows = Admission.objects.select_related("agent", "target", "proposal")
    return rows.filter(pk=key, agent=token.agent_id).first()


def locked(key: int) -> Admission:
    """Return a question as it is until the end of the transaction."""
    rows = Admission.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("agent", "target").get(pk=key)


def unknown(key: int, permit: Permit | None, token: AgentToken, now: datetime) -> Problem:
    """Say that an agent has no such question; a permit of somebody else's is recorded."""
    if permit is None or permit.agent == str(token.agent.uid):
        return missing(f"There is no admission/{key}.")
    with transaction.atomic():
        payload = {"admission": key, "code": FOREIGN.code, "reason": FOREIGN.reason}
        entry = admission_ledger.entry(token.agent, "admission.refused", payload, "warning")
        admission_ledger.append([entry], token.agent, now)
    return denied(*FOREIGN)


def objection(
    row: Admission, permit: Permit | None, digest: str, token: AgentToken
) -> Objection | None:
    """Say why a permit does not let something happen, or nothing."""
    if permit is None:
        return FORGED
    if permit.agent != str(token.agent.uid):
        return FOREIGN
    if permit.admission != str(row.uid) or not digest == permit.digest == row.digest:
        return OTHER
    if row.state in (State.REDEEMED, State.SETTLED, State.UNREPORTED):
        return REPLAYED
    if row.state != State.ALLOWED or permit.issued != row.issued:
        return EXPIRED
    return None


def take(row: Admission, now: datetime) -> Objection | None:
    """Use a permit that nothing else stands against; one whose time is over is given back."""
    running = Admission.objects.filter(pk=row.pk, state=State.ALLOWED, issued=row.issued)
    in_time = running.filter(expires_at__gt=current(now))
    if row.epoch == holds.epoch():
        if in_time.update(state=State.REDEEMED, redeemed_at=now, changed_at=now):
            row.state, row.redeemed_at, row.changed_at = State.REDEEMED, now, now
            return None
        why = EXPIRED
    else:
        why = MOVED
    if running.update(state=State.LAPSED, reserved=[], changed_at=now):
        give_back(row)
        row.state = State.LAPSED
    return why


def told(row: Admission, why: Objection | None) -> ledger.Entry:
    """Write what became of a permit."""
    payload = admission_ledger.about(row, admission_ledger.on_of(row))
    if why is None:
        return admission_ledger.entry(row.agent, "admission.redeemed", payload)
    refusal = {"code": why.code, "reason": why.reason}
    return admission_ledger.entry(row.agent, "admission.refused", payload | refusal, "warning")
