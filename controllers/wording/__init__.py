"""Proposals in the words of the people who decide: titles, reasons, states, consequences.

Everything here is read from the proposal and from what is declared; nothing is decided.
"""

from __future__ import annotations

from controllers.wording.facts import Fact, facts, why
from controllers.wording.fates import Deed, Field, Undo, deeds, if_approved, if_nothing, return_of
from controllers.wording.names import named, names
from controllers.wording.plain import briefly, plainly
from controllers.wording.titles import number, question, title
from controllers.wording.words import (
    MODES,
    RISKS,
    STEPS,
    Mode,
    Word,
    answered,
    mode,
    state,
)

__all__ = [
    "MODES",
    "RISKS",
    "STEPS",
    "Deed",
    "Fact",
    "Field",
    "Mode",
    "Undo",
    "Word",
    "answered",
    "briefly",
    "deeds",
    "facts",
    "if_approved",
    "if_nothing",
    "mode",
    "named",
    "names",
    "number",
    "plainly",
    "question",
    "return_of",
    "state",
    "title",
    "why",
]
