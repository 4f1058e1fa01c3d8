"""Proposals in the words of the people who decide: titles, reasons, states, consequences.

Everything here is read from the proposal and from what is declared; nothing is decided.
"""

from __future__ import annotations

from controllers.engine.drift import Fact
from controllers.narrative.proposal_text.consequences import (
    Deed,
    Field,
    Undo,
    deeds,
    if_approved,
    if_nothing,
    return_of,
)
from controllers.narrative.proposal_text.facts import facts, why
from controllers.narrative.proposal_text.names import named, names
from controllers.narrative.proposal_text.plain import briefly, plainly
from controllers.narrative.proposal_text.titles import number, question, title
from controllers.narrative.proposal_text.words import (
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
