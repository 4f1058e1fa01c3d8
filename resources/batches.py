"""Work in batches, so that no statement grows with the organisation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

SIZE = 500

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int = SIZE) -> Iterator[list[Item]]:
    """Yield lists of at most `size` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
