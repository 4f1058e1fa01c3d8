"""Tables for bulk SQL, derived from models: columns and types are declared once, by the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from django.db.models import Field, ForeignKey, Model

from resources.tables.batches import Table

# What PostgreSQL reads a field as: lengths are the column's to check.
_TYPES: Mapping[str, str] = {
    "AutoField": "integer",
    "BigAutoField": "bigint",
    "BigIntegerField": "bigint",
    "BooleanField": "boolean",
    "CharField": "text",
    "DateField": "date",
    "DateTimeField": "timestamptz",
    "FloatField": "float8",
    "JSONField": "json",
    "PositiveBigIntegerField": "bigint",
    "PositiveIntegerField": "integer",
    "PositiveSmallIntegerField": "smallint",
    "SmallIntegerField": "smallint",
    "TextField": "text",
    "UUIDField": "uuid",
}


@cache
def table_of(
    model: type[Model], names: tuple[str, ...] = (), *, unique: tuple[str, ...] = ()
) -> Table:
    """Return a model's table with these columns, or with all but its key.

    The columns that make a row unique come first.
    """
    known = columns(model)
    key = model._meta.pk.column
    chosen = names or [name for name in known if name != key]
    return Table(model._meta.db_table, tuple((name, known[name]) for name in chosen), unique)


@cache
def whole_table(model: type[Model]) -> Table:
    """Return a model's table with every column, its key too."""
    return table_of(model, tuple(columns(model)))


@cache
def missing_rows(model: type[Model]) -> Table:
    """Return a model's table for rows that are only added where there are none."""
    return replace(table_of(model), ignoring=True)


def columns(model: type[Model]) -> dict[str, str]:
    """Return the columns of a model as it declares them, with the types that PostgreSQL reads."""
    return {str(each.column): type_of(each) for each in model._meta.concrete_fields}


def type_of(field: Field[Any, Any]) -> str:
    """Return the type that PostgreSQL reads a field as; a reference is as what it refers to."""
    while isinstance(field, ForeignKey):
        field = field.target_field
    return _TYPES[field.get_internal_type()]
