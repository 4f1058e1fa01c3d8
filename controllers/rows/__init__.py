"""Rows as the engine's values, and the queries that find them."""

from __future__ import annotations

from controllers.rows.queries import Prepared, Slot, at, called, listed, names, these
from controllers.rows.sighted import Sighted, found_before, sighted
from controllers.rows.stored import Found, keys_of, read, resources
from controllers.rows.values import Stored, StoredJudgement, episode, story, when

__all__ = [
    "Found",
    "Prepared",
    "Sighted",
    "Slot",
    "Stored",
    "StoredJudgement",
    "at",
    "called",
    "episode",
    "found_before",
    "keys_of",
    "listed",
    "names",
    "read",
    "resources",
    "sighted",
    "story",
    "these",
    "when",
]
