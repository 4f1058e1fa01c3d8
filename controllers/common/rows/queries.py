"""Queries that a cycle makes again and again: spelled once, with many values in one parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import orjson
from django.db import connection
from django.db.models import DateTimeField, QuerySet, Value
from django.db.models.expressions import RawSQL

KEYS = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT unnest(%s::bigint[])",
}
NAMES = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT json_array_elements_text(%s::json)",
}

Spelled = tuple[str, Sequence[Any], Mapping[int, Any]]


class Slot(Value):
    """The place of a value in a query that is spelled before the value is known."""

    def as_sql(self, *_: Any) -> Any:
        """Leave the place open."""
        return "%s", [self]


def these(keys: Iterable[int] | Slot) -> RawSQL:
    """Name many keys in one parameter: a parameter for each would cost more than what is read."""
    given = keys if isinstance(keys, Slot) else listed(keys)
    return RawSQL(KEYS[connection.vendor], [given])  # noqa: S611 - our own statement


def listed(keys: Iterable[int]) -> str:
    """Write many keys as one parameter."""
    written = ",".join(map(str, keys))
    return f"{{{written}}}" if connection.vendor == "postgresql" else f"[{written}]"


def called(names: Slot) -> RawSQL:
    """Name many texts in one parameter."""
    return RawSQL(NAMES[connection.vendor], [names])  # noqa: S611 - our own statement


def names(values: Iterable[str]) -> str:
    """Write many texts as one parameter."""
    return orjson.dumps(list(values)).decode()


class Prepared:
    """A query that is spelled once: to build it takes longer than to run it."""

    def __init__(self, make: Callable[[], QuerySet[Any, Any]]) -> None:
        self.make = make
        self.spelled: dict[str, Spelled] = {}

    def __call__(self, **values: Any) -> list[Any]:
        """Run it with the values of its slots; return its rows."""
        vendor = connection.vendor
        if vendor not in self.spelled:
            self.spelled[vendor] = spell(self.make())
        statement, parameters, converters = self.spelled[vendor]
        given = [filled(values, each) for each in parameters]
        with connection.cursor() as cursor:
            cursor.execute(statement, given)
            found: list[Any] = cursor.fetchall()
        if not converters:
            return found
        found = [list(row) for row in found]
        for column, (converts, expression) in converters.items():
            for row in found:
                for convert in converts:
                    row[column] = convert(row[column], expression, connection)
        return found


def filled(values: Mapping[str, Any], parameter: Any) -> Any:
    """Put a value into its slot, a time as the database takes it."""
    value = values[parameter.value] if isinstance(parameter, Slot) else parameter
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, date):
        return connection.ops.adapt_datefield_value(value)
    return value


def at(name: str) -> Slot:
    """Leave a place open for a time."""
    return Slot(name, output_field=DateTimeField())


def spell(query: QuerySet[Any, Any]) -> Spelled:
    """Spell a query for the database in use, with how its columns are read."""
    compiler = query.query.get_compiler(connection=connection)
    statement, parameters = compiler.as_sql()
    read = [each[0] for each in compiler.select[: compiler.col_count]]
    return statement, parameters, compiler.get_converters(read)
