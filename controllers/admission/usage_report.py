"""What agents spent: recorded once, counted at once, held against their permits."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from controllers import budgets
from controllers.admission import admission_ledger
from controllers.admission.settlement import Settled, noted, settle
from controllers.budgets import Claim
from controllers.models import Usage
from resources.documents.canonical import digest
from resources.store import store
from resources.tables import ledger
from resources.tables.models import AgentToken

ATTEMPTS = 5
MOST = 500
# Clocks differ, and what is older than this belongs to windows that people have closed.
SKEW, OLDEST = timedelta(minutes=5), timedelta(days=7)
Verdict = Literal["counted", "repeated", "refused"]


@dataclass(frozen=True)
class UsageEntry:
    """One record as it comes in; without an id it is told from every other."""

    claim: Claim
    record: str = ""
    permit: str = ""
    at: datetime | None = None
    workflow: str = ""
    step: str = ""
    decision: str = ""
    correlation_id: str = ""
    # Where what a caller said is wrong, and how.
    faults: tuple[tuple[str, str], ...] = field(default=())


class Result(NamedTuple):
    """What became of one record."""

    verdict: Verdict
    usage: Usage | None = None
    # Whether a permit covers it, and if not why.
    permit: str = ""
    problems: tuple[tuple[str, str], ...] = ()


def report(items: Sequence[UsageEntry], token: AgentToken, now: datetime) -> list[Result]:
    """Record what an agent spent; what is repeated is counted once."""
    for _ in range(ATTEMPTS):
        with suppress(store.Stale):
            return taken(items, token, now)
    raise store.Stale("Others keep changing the same things. Try again.")


def taken(items: Sequence[UsageEntry], token: AgentToken, now: datetime) -> list[Result]:
    """Take each record that can be taken, all in one transaction."""
    known = budgets.prices([each.claim.named for each in items])
    drafts = [drafted(each, token, known, now) for each in items]
    with store.all_or_stale(), ledger.together():
        before = recorded(token, [each.record for each in drafts])
        results: list[Result] = []
        fresh: dict[str, tuple[int, Usage]] = {}
        for place, (item, usage) in enumerate(zip(items, drafts, strict=True)):
            results.append(sorted_out(item, usage, before, fresh, now))
            if results[-1].verdict == "counted":
                fresh[usage.record] = (place, usage)
        new = list(fresh.values())
        settled = settle([(items[place].permit, usage) for place, usage in new], token, now)
        budgets.count(
            [usage for _, usage in new],
            [change for each in settled for change in each.given_back],
        )
        record(new, settled, token, now)
    for (place, usage), each in zip(new, settled, strict=True):
        results[place] = Result("counted", usage, each.word)
    return results


def drafted(item: UsageEntry, token: AgentToken, known: Mapping[Any, Any], now: datetime) -> Usage:
    """Begin a record."""
    spent, claim, agent = budgets.worked_out(item.claim, known), item.claim, token.agent
    at = item.at or now
    return Usage(
        agent=agent,
        record=item.record or str(uuid.uuid4()),
        digest=digest([*claim, item.workflow, item.step, item.decision]),
        domain=agent.domain,
        day=at.date(),
        at=at,
        received_at=now,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        cost=spent.cost,
        currency=spent.currency,
        priced=spent.priced,
        provider=claim.provider,
        model=claim.model,
        version=claim.version,
        workflow=item.workflow,
        step=item.step,
        decision=item.decision,
        correlation_id=item.correlation_id or ledger.correlation.get(),
    )


def recorded(token: AgentToken, names: Sequence[str]) -> dict[str, Usage]:
    """Return the records of an agent that are known by these names."""
    rows = Usage.objects.filter(agent=token.agent_id, record__in=list(names))
    return {each.record: each for each in rows}


def sorted_out(
    item: UsageEntry,
    usage: Usage,
    before: Mapping[str, Usage],
    fresh: Mapping[str, tuple[int, Usage]],
    now: datetime,
) -> Result:
    """Say what becomes of a record: counted, known already, or refused with what is wrong."""
    problems = (*item.faults, *untimely(item, now))
    if problems:
        return Result("refused", problems=problems)
    again = before.get(usage.record)
    if again is None and usage.record in fresh:
        again = fresh[usage.record][1]
    if again is None:
        return Result("counted", usage)
    if again.digest != usage.digest:
        return Result("refused", problems=(("/id", "names another record already"),))
    return Result("repeated", again)


def untimely(item: UsageEntry, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield why a record cannot be of its time."""
    if item.at is not None and item.at > now + SKEW:
        yield "/at", "lies in the future"
    elif item.at is not None and item.at < now - OLDEST:
        yield "/at", f"is more than {OLDEST.days} days ago"


def record(
    new: Sequence[tuple[int, Usage]],
    settled: Sequence[Settled],
    token: AgentToken,
    now: datetime,
) -> None:
    """Tell the ledger what was spent, and note what was spent without leave."""
    if not new:
        return
    agent = token.agent
    usages = [usage for _, usage in new]
    cost: dict[str, int] = {}
    for each in usages:
        cost[each.currency] = cost.get(each.currency, 0) + each.cost
    payload = {
        "records": len(usages),
        "tokens": sum(each.tokens_in + each.tokens_out for each in usages),
        "cost": cost,
        "unpriced": sum(each.priced == Usage.Priced.UNKNOWN for each in usages),
        "permitted": sum(each.word == "settled" for each in settled),
    }
    entry = ledger.Entry(f"admission/{agent.uid}", "usage.recorded", str(agent), payload, "metric")
    admission_ledger.append([entry, *noted(agent, usages, settled, now)], agent, now)
