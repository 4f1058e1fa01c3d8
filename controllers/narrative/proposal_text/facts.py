"""Evidence as people read it: the field, what is desired, what is there, and how far apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from controllers.common import quotation
from controllers.engine import drift
from controllers.engine.document_values import figure, number, quantity
from controllers.engine.drift import Fact
from controllers.engine.finding_text import first_sentence, shown
from controllers.models import Proposal
from controllers.narrative.proposal_text.titles import lowered
from controllers.operations.phrases import percent

BOUND = re.compile(r"(<=|>=|<|>|=) ([\d.,eE+-]+) ?(.*)")
LIMITS: Mapping[str, str] = {
    "<=": "{} or less",
    "<": "under {}",
    ">=": "{} or more",
    ">": "over {}",
    "=": "exactly {}",
}
MANY = 2
# Two clauses fit into a row; what is longer stays on the page.
LONGEST = 96


class Bound:
    """A limit out of its text: `<= 50,000,000 tokens`."""

    def __init__(self, text: Any) -> None:
        found = BOUND.fullmatch(text) if isinstance(text, str) else None
        self.symbol, amount, self.unit = found.groups() if found else ("", "", "")
        self.target = _figure(amount)

    def written(self, value: Any) -> str:
        """Write a value in the unit of the limit."""
        amount = number(value)
        if amount is None:
            return shown(value)
        if self.unit in ("percent", "%"):
            return f"{figure(amount)}%"
        return percent(amount) if self.unit == "ratio" else quantity(amount, self.unit)

    def gap(self, observed: float | None) -> str:
        """Say how far a value is beyond the limit."""
        if observed is None or self.target is None:
            return "not known"
        if self.target <= 0:
            return f"{figure(observed - self.target)} too many"
        share = observed / self.target
        if share >= MANY:
            return f"{share:.2g} times" if share < 10 else f"{figure(round(share))} times"
        return f"{abs(share - 1) * 100:.0f}% {'over' if share > 1 else 'under'}"


def _figure(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def facts(evidence: Iterable[Mapping[str, Any]]) -> list[Fact]:
    """Return what a judgement rests on, as rows."""
    return [fact(each) for each in evidence]


def fact(evidence: Mapping[str, Any]) -> Fact:
    """Return one piece of evidence as a row."""
    dimension, subject = str(evidence.get("dimension", "")), str(evidence.get("subject", ""))
    known, name = drift.by_name(dimension), subject.partition("/")[2] or subject
    off, note = evidence.get("verdict") == "missed", str(evidence.get("note") or "")
    desired, observed = evidence.get("desired"), evidence.get("observed")
    bound = Bound(desired)
    if bound.symbol:
        wanted = LIMITS[bound.symbol].format(bound.written(bound.target))
        actual, gap = bound.written(observed), bound.gap(number(observed))
    else:
        wanted, actual, gap = known.sides(shown(desired), shown(observed))
    if observed is None:
        actual = "not reported"
    if not off:
        gap = "met" if evidence.get("verdict") == "met" else "not known"
    path = name if known.by_name else subject
    return Fact(dimension, known.titled(name), path, wanted, actual, gap, off, note)


def label(dimension: str, name: str) -> str:
    """Write a field's name as words: `errorRate` is "Error rate"."""
    return drift.by_name(dimension).titled(name)


def why(proposal: Proposal) -> str:
    """Say in one clause, with a number where there is one, why it is proposed."""
    off = [each for each in facts(proposal.evidence) if each.off]
    told = sorted(off, key=rank)
    if not told:
        return quotation.attributed(proposal, first_sentence(proposal.explanation))
    clauses = [clause(told[0])]
    for each in told[1:]:
        fresh = each.dimension != told[0].dimension
        if fresh and len(clauses) == 1 and len(clauses[0]) + len(clause(each)) < LONGEST:
            clauses.append(lowered(clause(each)))
    said = ", ".join(clauses)
    return said[:1].upper() + said[1:]


def rank(fact: Fact) -> int:
    """Put first what says most: violations, then what a machine said with a number."""
    return drift.by_name(fact.dimension).rank(fact.note)


def clause(fact: Fact) -> str:
    """Say what is wrong with one thing."""
    return drift.by_name(fact.dimension).clause(fact)
