"""Count what was spent: records and counters in one transaction, each record once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from controllers.budgets.counters import CounterChange, Key, add, key_of
from controllers.engine.allowances import TOKENS, Span, spans
from controllers.models import Usage

EVER = Span("ever", date(1970, 1, 1), date(1970, 1, 1))


class CounterIncrement(NamedTuple):
    """What a record adds, and to whom."""

    key: Key
    amount: int


def count(records: Sequence[Usage], given_back: Sequence[CounterChange] = ()) -> None:
    """Write records that are new and move every counter, together with what is given back."""
    Usage.objects.bulk_create(records)
    added = [
        CounterChange(each.key, consumed=each.amount, records=1)
        for record in records
        for each in counted(record)
    ]
    add([*added, *given_back])


def counted(record: Usage) -> Iterator[CounterIncrement]:
    """Yield what a record adds to which counters."""
    tokens = record.tokens_in + record.tokens_out
    amounts = ((TOKENS, tokens), (record.currency, record.cost))
    for unit, amount in amounts:
        for span in spans(record.day):
            if record.domain:
                yield CounterIncrement(key_of("domain", record.domain, span, unit), amount)
            yield CounterIncrement(key_of("agent", record.agent.name, span, unit), amount)
        for holder, name, span in others(record):
            yield CounterIncrement(key_of(holder, name, span, unit, record.domain), amount)


def others(record: Usage) -> Iterator[tuple[str, str, Span]]:
    """Yield the model, the decision and the workflow that a record names."""
    if record.model:
        today = Span("daily", record.day, record.day)
        yield "model", f"{record.provider}/{record.model}", today
    if record.decision:
        yield "decision", record.decision, EVER
    if record.workflow:
        yield "workflow", record.workflow, EVER
