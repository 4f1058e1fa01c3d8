"""Rows as the engine's values, and the queries that find them."""

from __future__ import annotations

from controllers.common.rows.glance_rows import Sighted, found_before, sighted
from controllers.common.rows.lazy_values import Stored, StoredJudgement, episode, story, when
from controllers.common.rows.queries import Prepared, Slot, at, called, listed, names, these
from controllers.common.rows.stored_rows import StoredRows, keys_of, read, resources

__all__ = [
    "Prepared",
    "Sighted",
    "Slot",
    "Stored",
    "StoredJudgement",
    "StoredRows",
    "at",
    "called",
    "episode",
    "found_before",
    "keys_of",
    "listed",
    "names",
    "queries",
    "read",
    "resources",
    "sighted",
    "story",
    "these",
    "when",
]
