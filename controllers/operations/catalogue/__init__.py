"""The operations: every module of this package holds some, close relatives together."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from controllers.operations.operation import Operation

__all__ = ["autonomy", "permission"]

ALL: tuple[Operation, ...] = tuple(
    sorted(
        (
            operation
            for module in pkgutil.iter_modules(__path__)
            for operation in import_module(f"{__name__}.{module.name}").OPERATIONS
        ),
        key=lambda operation: operation.name,
    )
)
_BY_NAME = {operation.name: operation for operation in ALL}


def find(name: str) -> Operation | None:
    """Return the operation of a name."""
    return _BY_NAME.get(name)
