"""The target kinds: every module of this package is one, found by its `TARGET`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from controllers.engine.target import Target
from controllers.engine.terms import Drift, Snapshot

ALL: tuple[Target, ...] = tuple(
    import_module(f"{__name__}.{module.name}").TARGET for module in pkgutil.iter_modules(__path__)
)
_BY_KIND = {target.kind: target for target in ALL}


def by_kind(name: str) -> Target:
    """The target a controller names; a kind without a module has nothing to measure but health."""
    return _BY_KIND.get(name) or Target(kind=name, explain=_explain)


def _explain(snapshot: Snapshot, _: Drift) -> str:
    return f"Nothing is measured of {snapshot.target.ref} but its conditions."
