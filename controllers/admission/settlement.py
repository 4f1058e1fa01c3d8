"""Permits and what was spent: a report settles its permit, and what has none is noted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from controllers import budgets as accounting
from controllers.admission import admission_ledger, permits, violations
from controllers.admission.admission_facts import KINDS, mode_of, relevant
from controllers.admission.permits import Permit
from controllers.admission.redemption import EXPIRED, FOREIGN, FORGED, MOVED, REPLAYED, Objection
from controllers.budgets import CounterChange
from controllers.decisions import holds
from controllers.engine import admission as engine
from controllers.engine.admission import Finding
from controllers.models import Admission, Usage
from controllers.workqueue import compiled_controllers
from resources.tables import ledger
from resources.tables.models import AgentToken, Resource

State = Admission.State
USED = (State.REDEEMED, State.UNREPORTED)


class Settled(NamedTuple):
    """What a permit says about one record: `settled`, `none`, or the code of what is wrong."""

    word: str
    admission: Admission | None = None
    given_back: tuple[CounterChange, ...] = ()
    # Whether more was spent than the permit was for.
    beyond: bool = False


def settle(pairs: Sequence[tuple[str, Usage]], token: AgentToken, now: datetime) -> list[Settled]:
    """Settle permits with what was spent under them, each once."""
    read = [permits.read(text) if text else None for text, _ in pairs]
    rows = locked([each for each in read if each is not None], token)
    epoch = holds.epoch() if rows else 0
    return [
        one(permit, usage, rows, epoch, now) if text else Settled("none")
        for (text, usage), permit in zip(pairs, read, strict=True)
    ]


def locked(found: Sequence[Permit], token: AgentToken) -> dict[str, Admission]:
    """Return an agent's questions that permits are for, locked until the end."""
    wanted = [each.admission for each in found if each.agent == str(token.agent.uid)]
    if not wanted:
        return {}
    rows = Admission.objects.select_for_update(no_key=True).filter(
        uid__in=wanted, agent=token.agent_id
    )
    return {str(row.uid): row for row in rows.order_by("pk")}


def one(
    permit: Permit | None,
    usage: Usage,
    rows: dict[str, Admission],
    epoch: int,
    now: datetime,
) -> Settled:
    """Settle one permit, if it stands."""
    row = rows.get(permit.admission) if permit else None
    why = objection(permit, row, usage, epoch, now)
    if why is not None or row is None:
        return Settled((why or FORGED).code)
    back = tuple(accounting.given_back(row.reserved))
    Admission.objects.filter(pk=row.pk).update(
        state=State.SETTLED,
        reserved=[],
        redeemed_at=row.redeemed_at or now,
        changed_at=now,
    )
    row.state = State.SETTLED
    # What was set aside for a day is spent on that day.
    usage.admission, usage.day = row, row.day
    spent = usage.tokens_in + usage.tokens_out
    more = spent > row.tokens or (usage.currency == row.currency and usage.cost > row.cost)
    return Settled("settled", row, back, more)


def objection(
    permit: Permit | None, row: Admission | None, usage: Usage, epoch: int, now: datetime
) -> Objection | None:
    """Say why a permit does not cover a record, or nothing."""
    if permit is None:
        return FORGED
    if row is None or permit.agent != str(usage.agent.uid):
        return FOREIGN
    if row.state == State.SETTLED:
        return REPLAYED
    if permit.issued != row.issued or row.state not in (State.ALLOWED, *USED):
        return EXPIRED
    if row.state == State.ALLOWED and not permits.stands(row, epoch, now):
        return EXPIRED if row.epoch == epoch else MOVED
    return None


def findings(
    agent: Resource, usages: Sequence[Usage], settled: Sequence[Settled]
) -> Iterator[tuple[Usage, Finding]]:
    """Yield what was spent without leave, where a budget enforces its limit."""
    wrong = [
        (usage, each)
        for usage, each in zip(usages, settled, strict=True)
        if each.beyond or each.word != "settled"
    ]
    budgets = enforced(agent) if wrong else []
    for usage, each in wrong:
        for budget in budgets:
            reason = (
                f"{agent} has spent more than its permit was for."
                if each.beyond
                else f"{agent} has spent from {budget} without a permit."
            )
            code = "BeyondPermit" if each.beyond else "WithoutPermit"
            yield usage, Finding(code, reason, "enforce", "permit", budget.pk)


def enforced(agent: Resource) -> list[Resource]:
    """Return the budgets of an agent's domain that enforce their limits."""
    controllers = [each for each in compiled_controllers.every() if each.kind in KINDS]
    return [
        row
        for row in relevant(agent.domain, agent.domain)
        if row.kind == "Budget" and engine.blocks(mode_of(row, controllers))
    ]


def noted(
    agent: Resource, usages: Sequence[Usage], settled: Sequence[Settled], now: datetime
) -> list[ledger.Entry]:
    """Note permits that were refused, and what was spent without leave."""
    entries = [
        admission_ledger.entry(
            agent,
            "admission.refused",
            {"record": usage.record, "code": each.word, "reason": "It came with a usage report."},
            "warning",
        )
        for usage, each in zip(usages, settled, strict=True)
        if each.word not in ("settled", "none")
    ]
    broken: dict[int, Finding] = {}
    for _, found in findings(agent, usages, settled):
        broken.setdefault(found.policy, found)
    deed = violations.Deed(agent, "spend", str(agent))
    return [*entries, *violations.record(list(broken.values()), deed, now)]
