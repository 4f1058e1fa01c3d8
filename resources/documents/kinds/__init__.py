"""The resource kinds: every module of this package is one, found by its `KIND`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from resources.documents.kind import Kind

__all__ = ["domain"]

ALL: tuple[Kind, ...] = tuple(
    sorted(
        (
            import_module(f"{__name__}.{module.name}").KIND
            for module in pkgutil.iter_modules(__path__)
        ),
        key=lambda kind: (kind.order, kind.name),
    )
)
_BY_NAME = {kind.name: kind for kind in ALL}
_BY_PATH = {kind.path: kind for kind in ALL}


def by_name(name: str) -> Kind | None:
    """The kind a document calls `name`, such as `SecurityPolicy`."""
    return _BY_NAME.get(name)


def by_path(path: str) -> Kind | None:
    """The kind whose URL segment is `path`, such as `securitypolicy`."""
    return _BY_PATH.get(path)
