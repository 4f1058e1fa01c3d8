"""What agents wrote, made fit to be shown to people: as theirs, with nothing hidden in it."""

from __future__ import annotations

import unicodedata

from controllers.models import Proposal

# Characters that a reader does not see, or that change how the others are read.
UNSEEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
# Set in the policy of a proposal that an agent brought about and the product worded.
WORDED_HERE = "wordedHere"


def harmless(text: str) -> str:
    """Write a text of somebody else on one line, with what hides in it made visible."""
    return " ".join("".join(map(seen, text)).split())


def seen(character: str) -> str:
    """Return a character as a reader can see it."""
    if character in "\t\r\n":
        return " "
    if unicodedata.category(character) in UNSEEN:
        return f"[U+{ord(character):04X}]"
    return character


def quoted(who: str, words: str) -> str:
    """Write words as what somebody said: 'scribe says “No answer.”'."""
    return f"{who} says “{harmless(words)}”"


def attributed(proposal: Proposal, words: str) -> str:
    """Write reasons of a proposal; an agent's own words are marked as such."""
    who = speaker(proposal)
    return quoted(who, words) if who else words


def speaker(proposal: Proposal) -> str:
    """Return the agent whose words the reasons of a proposal are, if they are an agent's."""
    kind, _, name = proposal.proposer.partition("/")
    return name if kind == "agent" and not proposal.policy.get(WORDED_HERE) else ""
