"""Budgets, shares of agents and admissions as the page of economics writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from controllers.admission.admission_ledger import on_of
from controllers.budgets.budget_status import Stand, sharers
from controllers.engine import allowances
from controllers.engine.allowances import MILLIONTHS, TOKENS
from controllers.engine.document_values import items, number, text
from controllers.models import Admission

State = Admission.State
# How much of a limit is used when nobody says from where on people are told.
USUAL_TICK = 0.9
MILLION = 1_000_000
# From here on nobody counts cents.
ROUND = 100
ANSWERS: Mapping[str, tuple[str, str]] = {
    State.WAITING: ("warn", "Waits for a person"),
    State.ALLOWED: ("ok", "Allowed"),
    State.DENIED: ("danger", "Denied"),
    State.REDEEMED: ("accent", "Permit used"),
    State.SETTLED: ("ok", "Used and reported"),
    State.LAPSED: ("", "Permit lapsed"),
    State.UNREPORTED: ("warn", "Never reported"),
}


class Measure(NamedTuple):
    """One limit of a budget: what is used of it, and where that leads."""

    unit: str
    consumed: str
    limit: str
    projected: str
    over: bool


class Account(NamedTuple):
    """A budget as its counters show it."""

    name: str
    domain: str
    period: str
    mode: str
    share: float | None
    tick: float
    measures: list[Measure]

    @property
    def over(self) -> bool:
        """Whether the pace so far leads beyond a limit."""
        return any(each.over for each in self.measures)

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.share is not None and self.share >= 1

    @property
    def tone(self) -> str:
        """How serious that is."""
        if self.share is None:
            return "mute"
        warned = self.over or self.share >= self.tick
        return "danger" if self.spent else "warn" if warned else "ok"

    @property
    def word(self) -> str:
        """What that means."""
        if self.share is None:
            return "No limit"
        return "Spent" if self.spent else "Heads beyond" if self.over else "Within"


class AgentShare(NamedTuple):
    """What one agent may have of a budget, and what it has had."""

    agent: str
    budget: str
    part: float
    used: str
    most: str
    share: float

    @property
    def tone(self) -> str:
        """Whether it has had more than that."""
        return "danger" if self.share > 1 else "warn" if self.share >= USUAL_TICK else "ok"


class AdmissionRow(NamedTuple):
    """One admission."""

    row: Admission
    on: str
    tone: str
    word: str
    reasons: list[str]
    cost: str


def exactly(amount: int, unit: str) -> str:
    """Write what was counted: every token, and money to the cent."""
    return f"{amount:,} tokens" if unit == TOKENS else f"{amount / MILLIONTHS:,.2f} {unit}"


def roughly(amount: int, unit: str) -> str:
    """Write what is set or worked out, no finer than anybody means it."""
    if unit != TOKENS:
        money = amount / MILLIONTHS
        return f"{money:,.0f} {unit}" if money >= ROUND else exactly(amount, unit)
    millions = f"{amount / MILLION:,.1f}".removesuffix(".0")
    return f"{millions} million tokens" if amount >= MILLION else exactly(amount, unit)


def account(found: Stand, now: datetime) -> Account:
    """Write how a budget stands."""
    spec = found.budget.spec
    return Account(
        found.budget.name,
        found.budget.domain,
        text(spec.get("period")),
        text(spec.get("enforcement")) or "warn",
        found.share,
        tick_of(found),
        [measure(found, unit, now) for unit in found.limits],
    )


def tick_of(found: Stand) -> float:
    """Return from which share on people are warned."""
    loud = [each for each in allowances.alarms(found.read) if each.severity != "info"]
    return min((each.threshold for each in loud), default=USUAL_TICK)


def measure(found: Stand, unit: str, now: datetime) -> Measure:
    """Write one limit."""
    consumed, most = found.amounts.get(unit, 0), found.limits[unit]
    ahead = allowances.projected(consumed, found.span, now)
    return Measure(
        unit, exactly(consumed, unit), roughly(most, unit), roughly(ahead, unit), ahead > most
    )


def shares(found: Stand, now: datetime) -> Iterator[AgentShare]:
    """Write what the agents that a budget names may have of it."""
    parts = {text(each.get("name")): each for each in items(found.budget.spec, "agents")}
    for name in sharers(found.budget):
        for each in allowances.shares(found.read, name, "warn", now):
            used = found.by_agent.get((name, each.unit), 0)
            share = used / each.most if each.most else float(used > 0)
            part = number(parts[name].get("allocation")) or 0
            yield AgentShare(
                *(name, found.budget.name, part),
                *(exactly(used, each.unit), roughly(each.most, each.unit), share),
            )


def asked(row: Admission) -> AdmissionRow:
    """Write what an agent asked, and what it was told."""
    tone, word = ANSWERS[row.state]
    said = [*row.reasons, *row.warnings]
    reasons = [text(each.get("reason")) for each in said if isinstance(each, dict)]
    money = f", {exactly(row.cost, row.currency)}" if row.cost else ""
    cost = f"{exactly(row.tokens, TOKENS)}{money}" if row.tokens or row.cost else ""
    return AdmissionRow(row, on_of(row), tone, word, reasons, cost)
