"""The dimensions of drift: every module of this package is one, found by its `DIMENSION`."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from controllers.engine.dimension import DriftDimension, Fact
from controllers.engine.target import Target
from controllers.engine.terms import Controller

__all__ = ["ALL", "DIMENSIONS", "WEIGHTS", "DriftDimension", "Fact", "by_name"]

ALL: tuple[DriftDimension, ...] = tuple(
    sorted(
        (
            import_module(f"{__name__}.{module.name}").DIMENSION
            for module in pkgutil.iter_modules(__path__)
        ),
        key=lambda dimension: (dimension.order, dimension.name),
    )
)
_BY_NAME: Mapping[str, DriftDimension] = {each.name: each for each in ALL}
DIMENSIONS: tuple[str, ...] = tuple(_BY_NAME)
# What each weighs where a controller does not say.
WEIGHTS: Mapping[str, float] = {each.name: each.weight for each in ALL}


def by_name(name: str) -> DriftDimension:
    """The dimension of a name; one that is not known here has the words that any has."""
    return _BY_NAME.get(name) or DriftDimension(
        name=name, order=0, weight=0.0, meaning="", label=name, heading=name, look=_nothing
    )


def _nothing(_: Controller, __: Target) -> None:
    return None
