"""The fault matrix: one module for each row."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from faults.run import Row


def all_rows() -> tuple[Row, ...]:
    """Return every row, in the order of the matrix."""
    names = sorted(each.name for each in iter_modules(__path__) if each.name.startswith("f"))
    return tuple(import_module(f"{__name__}.{name}").ROW for name in names)
