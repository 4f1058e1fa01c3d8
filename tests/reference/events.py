"""The page of events: every entry that the ledger can have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from controllers.decisions import answers
from controllers.decisions.answers import ProposalAnswer
from controllers.narrative.event_text.sentences import SENTENCES
from resources.documents.yaml_text import read_yaml
from tests.reference.writing import code, listed, table

PAYLOADS = Path(__file__).with_name("payloads.yaml")
HEAD = """\
# Events

Every entry that the ledger can have. `python -m tests.catalogue` makes this page of
`controllers/narrative/event_text/sentences.py`, `controllers/decisions/answers/` and
`tests/reference/payloads.yaml`: do not edit it.

Each entry has `id`, `stream`, `seq`, `at`, `event`, `category`, `severity`, `actor`, `subject`,
`correlationId`, `causationId`, `payload`, and the hashes that chain it. Read them at `/audit`,
with `GET /api/v1/events`, or with `ioa audit export` as CloudEvents. The sentence goes on after
the `actor`; [it] is the `subject`. A payload has those of its fields that there is something to
say in.
"""
WORD = re.compile(r"( ?)\{(\w+)\}")
# What a word of a sentence stands for; one that may be missing, right after another, is left out.
WORDS: Mapping[str, str] = {
    "action": "did something to",
    "asks": "asks",
    "acted": "what became of it",
    "broken": "what was not kept",
    "does": "operation",
    "hold": "held",
    "named": "event",
    "plan": "plan",
    "right": "role",
    "rung": "level",
    "to": "who does it",
    "watched": "what it watches",
}
# What the entry of every answer says, and of one that is about what was seen.
ANSWERED = (
    *("actionDigest", "answer", "basisDigest", "behalf", "proposal", "reason", "resource"),
    *("revision", "state"),
)
SHOWN = ("shownDigest", "shownRevision")
# What no sentence can do without.
NEEDED = {"operation": " [operation]", "percent": " [percent]"}


def page() -> str:
    """Write the page."""
    groups = groupby(sorted(SENTENCES, key=area), area)
    return HEAD + "".join(section(name, [*found]) for name, found in groups)


def area(event: str) -> str:
    """Return the first word of an event; budgets' begin with their domain."""
    return event.partition(".")[0] if "." in event else "budget"


def section(name: str, found: list[str]) -> str:
    """Write the events that begin with one word."""
    known = payloads()
    rows = [
        (code(event if "." in event else f"DOMAIN.{event}"), meaning(event), listed(known[event]))
        for event in found
    ]
    return f"\n## {name.title()}\n\n" + table(("Event", "Who …", "Payload"), rows)


def meaning(event: str) -> str:
    """Write the sentence of an event without anything in particular."""

    def word(found: re.Match[str]) -> str:
        gap, name = found.groups()
        if name == "own":
            return f"{gap}its"
        if gap or found.start() == 0 or name == "it":
            return f"{gap}[{WORDS.get(name, name)}]"
        return NEEDED.get(name, "")

    return WORD.sub(word, SENTENCES[event].text)


@cache
def payloads() -> dict[str, list[str]]:
    """Read which fields the payload of each event may have; an answer says it of its own."""
    found: dict[str, list[str]] = read_yaml(PAYLOADS.read_text(encoding="utf-8"))
    spoken = {each.event: said(each) for each in answers.ALL if each.event}
    return {**found, **spoken}


def said(answer: ProposalAnswer) -> list[str]:
    """Return what the entry of an answer may say."""
    return sorted({*ANSWERED, *(SHOWN if answer.bound else ()), *answer.payload})


def undescribed(told: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return the fields of entries that the page does not name."""
    known = payloads()
    return [
        f"{event} has {field}: name it in {PAYLOADS.name}"
        for event, payload in told
        for field in payload
        if field not in known.get(event, ())
    ]
