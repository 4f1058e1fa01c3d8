"""What tools share: lists that fit into an answer, and the details of a call."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ioa_client import Failure

MOST = 200


def first(items: Iterator[dict[str, Any]], limit: int) -> dict[str, Any]:
    """Return the first of a list, and whether there are more."""
    most = max(1, min(limit, MOST))
    found = list(islice(items, most + 1))
    return {"items": found[:most], "more": len(found) > most}


def known(given: dict[str, Any] | None, *names: str) -> dict[str, Any]:
    """Return the details of a call, or refuse what they cannot have."""
    details = given or {}
    if unknown := sorted(set(details) - set(names)):
        raise Failure(f"There is no detail {unknown[0][:80]!r}. Allowed: {', '.join(names)}.")
    return details
