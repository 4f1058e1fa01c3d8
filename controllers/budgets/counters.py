"""The counters: narrow rows that only ever grow by sums, set aside by one guarded statement.

What is set aside passes a limit by nothing: the statement that adds it holds the sum of what is
spent and promised against the limit, on the row as it is when nobody else can change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import Q, Sum

from controllers.engine.allowances import Allowance, Span
from controllers.models import Consumption
from resources.tables.models import Resource

# One order for everybody: of two that need the same rows, one waits at the first.
ADD = """
    ON CONFLICT (holder, domain, name, "window", starts_on, unit) DO UPDATE SET
      consumed = controllers_consumption.consumed + excluded.consumed,
      reserved = controllers_consumption.reserved + excluded.reserved,
      records = controllers_consumption.records + excluded.records
"""
INSERT = """
    INSERT INTO controllers_consumption
      (holder, domain, name, "window", starts_on, unit, consumed, reserved, records, published)
"""
ONE = "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 0)"
MANY = """
    SELECT holder, domain, name, "window", starts_on, unit, consumed, reserved, records, 0
    FROM json_to_recordset(%s::json) AS given(holder text, domain text, name text, "window" text,
      starts_on date, unit text, consumed bigint, reserved bigint, records bigint)
    ORDER BY holder, domain, name, "window", starts_on, unit
"""
WITHIN = """
    WHERE controllers_consumption.consumed + controllers_consumption.reserved
      + excluded.reserved <= %s
"""


class Key(NamedTuple):
    """What names a counter."""

    holder: str
    domain: str
    name: str
    window: str
    starts_on: date
    unit: str


class CounterChange(NamedTuple):
    """What is added to a counter."""

    key: Key
    consumed: int = 0
    reserved: int = 0
    records: int = 0


class Exhausted(Exception):
    """A limit would be passed; `allowance` is the one."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__(allowance.source)
        self.allowance = allowance


def key_of(holder: str, name: str, span: Span, unit: str, domain: str = "") -> Key:
    """Name the counter of a domain, an agent or something else in a window."""
    inside = name if holder == "domain" else domain
    return Key(holder, inside, name, span.window, span.start, unit)


def add(changes: Iterable[CounterChange]) -> None:
    """Add to counters, each row once and all in one order; those that are missing are made."""
    rows = [summed(key, parts) for key, parts in sorted(grouped(changes).items())]
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            names = ("holder", "domain", "name", "window", "starts_on", "unit")
            listed = [
                dict(zip(names, each.key, strict=True))
                | {"consumed": each.consumed, "reserved": each.reserved, "records": each.records}
                for each in rows
            ]
            cursor.execute(INSERT + MANY + ADD, [orjson.dumps(listed).decode()])
        else:
            cursor.executemany(INSERT + ONE + ADD, [as_row(each) for each in rows])


def grouped(changes: Iterable[CounterChange]) -> dict[Key, list[CounterChange]]:
    """Bring what is added to the same counter together."""
    found: dict[Key, list[CounterChange]] = {}
    for each in changes:
        found.setdefault(each.key, []).append(each)
    return found


def summed(key: Key, parts: Sequence[CounterChange]) -> CounterChange:
    """Add what belongs to one counter up."""
    return CounterChange(
        key,
        sum(each.consumed for each in parts),
        sum(each.reserved for each in parts),
        sum(each.records for each in parts),
    )


def as_row(change: CounterChange) -> list[Any]:
    """Write a change as the values of its row."""
    *named, day, unit = change.key
    return [*named, day.isoformat(), unit, change.consumed, change.reserved, change.records]


def used(allowances: Sequence[Allowance]) -> list[int]:
    """Return how much of each allowance is spent or promised."""
    rows = Consumption.objects.none()
    wanted = {row_of(each) for each in allowances if each.span.window}
    if wanted:
        named = Q()
        for key in wanted:
            named |= Q(**key._asdict())
        rows = Consumption.objects.filter(named)
    found = {
        Key(*each[:6]): each[6] + each[7]
        for each in rows.values_list(*Key._fields, "consumed", "reserved")
    }
    return [
        found.get(row_of(each), 0) if each.span.window else over_days(each) for each in allowances
    ]


def row_of(allowance: Allowance) -> Key:
    """Return the counter that an allowance limits."""
    return key_of(allowance.holder, allowance.name, allowance.span, allowance.unit)


def over_days(allowance: Allowance) -> int:
    """Add up the days of a stretch that the calendar has no name for."""
    span = Span("daily", allowance.span.start, allowance.span.end)
    day = key_of(allowance.holder, allowance.name, span, allowance.unit)
    rows = Consumption.objects.filter(
        holder=day.holder,
        domain=day.domain,
        name=day.name,
        window="daily",
        unit=day.unit,
        starts_on__gte=span.start,
        starts_on__lt=span.end,
    )
    found = rows.aggregate(consumed=Sum("consumed"), reserved=Sum("reserved"))
    return (found["consumed"] or 0) + (found["reserved"] or 0)


def reserve(wanted: Sequence[tuple[Allowance, int]], today: date) -> list[CounterChange]:
    """Set amounts aside within their allowances, or raise `Exhausted`; a caller rolls back.

    Returns what is set aside, so that it can be given back.
    """
    limits: dict[Key, tuple[Allowance, int]] = {}
    loose: list[tuple[Allowance, int]] = []
    for allowance, amount in wanted:
        if not allowance.span.window:
            loose.append((allowance, amount))
            continue
        key = row_of(allowance)
        if key not in limits or allowance.most < limits[key][0].most:
            limits[key] = (allowance, amount)
    check_days(loose)
    for key, (allowance, amount) in sorted(limits.items()):
        set_aside(key, allowance, amount)
    return [
        *(CounterChange(key, reserved=amount) for key, (_, amount) in sorted(limits.items())),
        *on_today(loose, set(limits), today),
    ]


def check_days(loose: Sequence[tuple[Allowance, int]]) -> None:
    """Hold amounts against sums that no single row holds; only one at a time may look."""
    lock([each for each, _ in loose])
    for allowance, amount in loose:
        if over_days(allowance) + amount > allowance.most:
            raise Exhausted(allowance)


def lock(allowances: Sequence[Allowance]) -> None:
    """Lock budgets until the end."""
    keys = sorted({each.budget for each in allowances})
    if keys:
        rows = Resource.objects.select_for_update(no_key=True).filter(pk__in=keys)
        list(rows.order_by("pk").values_list("pk"))


def set_aside(key: Key, allowance: Allowance, amount: int) -> None:
    """Set an amount aside if that passes no limit: one statement, on the row as it is."""
    if amount > allowance.most:
        raise Exhausted(allowance)
    with connection.cursor() as cursor:
        row = as_row(CounterChange(key, reserved=amount))
        cursor.execute(INSERT + ONE + ADD + WITHIN, [*row, allowance.most])
        if cursor.rowcount != 1:
            raise Exhausted(allowance)


def on_today(
    loose: Sequence[tuple[Allowance, int]], done: set[Key], today: date
) -> list[CounterChange]:
    """Set amounts aside on today's row, unless that was done already."""
    span = Span("daily", today, today)
    added = {
        key: CounterChange(key, reserved=amount)
        for each, amount in loose
        if (key := key_of(each.holder, each.name, span, each.unit)) not in done
    }
    add(added.values())
    return [*added.values()]


def as_document(changes: Iterable[CounterChange]) -> list[list[object]]:
    """Write what is set aside as plain values."""
    return [
        [*each.key[:4], each.key.starts_on.isoformat(), each.key.unit, each.reserved]
        for each in changes
    ]


def given_back(reserved: Iterable[Sequence[object]]) -> list[CounterChange]:
    """Return the changes that give back what was set aside."""
    return [
        CounterChange(
            Key(str(a), str(b), str(c), str(d), date.fromisoformat(str(e)), str(f)),
            reserved=-int(str(amount)),
        )
        for a, b, c, d, e, f, amount in reserved
    ]
