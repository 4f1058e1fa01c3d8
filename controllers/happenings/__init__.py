"""Entries of the ledger told to people: who did what to what, in one short sentence."""

from __future__ import annotations

from controllers.happenings.naming import field, named, people, place, shortly
from controllers.happenings.telling import Happening, asked, told

__all__ = ["Happening", "asked", "field", "named", "people", "place", "shortly", "told"]
