"""Check every row of a table in one test, and name each row that fails."""

from __future__ import annotations

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pytest
from _pytest.mark import ParameterSet
from django.db import transaction

Test = Callable[..., None]
Name = Callable[[Any], object]
LONGEST = 100
# Some rows are nested so deeply that Python itself cannot write them out.
SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = LONGEST


class Row(NamedTuple):
    """What a test is called with, and how people know it."""

    label: str
    values: dict[str, Any]


def every_row(
    names: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Name | None = None,
    rolled_back: bool = False,
) -> Callable[[Test], Test]:
    """Fold a table into one test: as `pytest.mark.parametrize`, without a test for each row.

    All rows share the fixtures of the test, so this is for what leaves nothing behind;
    `rolled_back` undoes what a row wrote to the database.
    """
    columns = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    table = [_row(columns, each, ids) for each in rows]
    if not table:
        raise ValueError(f"No row for {columns}: this would check nothing.")

    def fold(test: Test) -> Test:
        inner: list[Row] = getattr(test, "rows", [Row("", {})])
        both = [_joined(outer, each) for outer in table for each in inner]
        undone = rolled_back or getattr(test, "rolled_back", False)
        return _folded(inspect.unwrap(test), both, undone)

    return fold


def _row(columns: list[str], given: Any, ids: Name | None) -> Row:
    label = given.id if isinstance(given, ParameterSet) else None
    if isinstance(given, ParameterSet):
        values = given.values
    else:
        values = given if len(columns) > 1 else (given,)
    if len(values) != len(columns):
        raise ValueError(f"{columns} does not fit {values}")
    named = dict(zip(columns, values, strict=True))
    said = (f"{name}={_short(value, ids)}" for name, value in named.items())
    return Row(str(label or ", ".join(said)), named)


def _short(value: Any, ids: Name | None) -> str:
    named = ids(value) if ids else None
    return SHORT.repr(value) if named is None else str(named)


def _joined(outer: Row, inner: Row) -> Row:
    labels = [label for label in (outer.label, inner.label) if label]
    return Row(", ".join(labels), {**outer.values, **inner.values})


def _folded(test: Test, rows: list[Row], rolled_back: bool) -> Test:
    signature = inspect.signature(test)
    fixtures = [each for each in signature.parameters.values() if each.name not in rows[0].values]

    @functools.wraps(test)
    def check(**asked: Any) -> None:
        failures = [(row, _failure(test, asked | row.values, rolled_back)) for row in rows]
        wrong = [(row, error) for row, error in failures if error]
        if wrong:
            lines = "\n".join(f"{row.label}: {_told(error)}" for row, error in wrong)
            message = f"{len(wrong)} of {len(rows)} rows fail:\n{lines}"
            raise AssertionError(message) from wrong[0][1]

    folded: Any = check
    folded.rows, folded.rolled_back = rows, rolled_back
    folded.__signature__ = signature.replace(parameters=fixtures)
    return check


def _failure(test: Test, values: dict[str, Any], rolled_back: bool) -> BaseException | None:
    """Return what went wrong: `pytest.raises` that met nothing is no `Exception`."""
    try:
        if rolled_back:
            _roll_back_after(test, values)
        else:
            test(**values)
    except (Exception, pytest.fail.Exception) as error:
        return error
    return None


def _roll_back_after(test: Test, values: dict[str, Any]) -> None:
    with transaction.atomic():
        test(**values)
        transaction.set_rollback(True)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
