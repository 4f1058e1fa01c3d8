"""Entries of the ledger told to people: who did what to what, in one short sentence."""

from __future__ import annotations

from controllers.narrative.event_text.entries import Happening, asked, told
from controllers.narrative.event_text.spelled_names import field, named, people, place, shortly

__all__ = ["Happening", "asked", "field", "named", "people", "place", "shortly", "told"]
