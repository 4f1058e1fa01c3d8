"""The page of answers: everything that people can say about a proposal."""

from __future__ import annotations

import json
from collections.abc import Iterator

from controllers.decisions import answers
from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.answers.proposal_answer import AnswerField
from controllers.engine import proposal_lifecycle
from controllers.engine.proposal_lifecycle import STATES
from tests.reference.writing import code, listed, table

HEAD = """\
# Answers

What people can say about a proposal, on its page and with `POST /api/v1/proposals/{id}/{answer}`.
`python -m tests.catalogue` makes this page of `controllers/decisions/answers/`: do not edit it.

Every answer carries a `reason`, and the tag of what was seen as `If-Match`. What fits a proposal
as it stands is in its `allowed`.
"""
SEEN = "It needs no `If-Match`."
PAGE_ONLY = "It is given on the page; the API places a hold."
TOGETHER = "It can be given to many at once, with `POST /api/v1/proposals/decide`."


def page() -> str:
    """Write the page."""
    return HEAD + "".join(section(each) for each in answers.ALL)


def section(answer: ProposalAnswer) -> str:
    """Write what is said of one answer."""
    parts = [f"\n## {answer.name}\n", f"**{plain(answer.offer)}.** {answer.hint}".strip() + "\n"]
    parts.append("".join(f"- {each}\n" for each in facts(answer)))
    if answer.fields and answer.in_api:
        rows = [row(each) for each in answer.fields]
        parts.append(table(("Field", "Type", "Needed", "What it says", "Example"), rows))
    return "\n".join(parts)


def facts(answer: ProposalAnswer) -> Iterator[str]:
    """Say who may, when, and what it leads to."""
    yield f"Who may: {answer.who}"
    if places := where(answer):
        yield f"States: {places}."
    if answer.event:
        yield f"Ledger: {code(answer.event)}."
    if answer.key:
        yield f"Key: {code(answer.key)}."
    if not answer.in_api:
        yield PAGE_ONLY
    elif not answer.bound:
        yield SEEN
    if answer.together:
        yield TOGETHER


def where(answer: ProposalAnswer) -> str:
    """Say where it leads from each state it fits."""
    fitting = [each for each in STATES if proposal_lifecycle.allows(each, answer.verb)]
    led = [(each, proposal_lifecycle.after(each, answer.verb)) for each in fitting]  # type: ignore[arg-type]
    return ", ".join(code(a) if a == b else f"{code(a)} → {code(b)}" for a, b in led)


def row(field: AnswerField) -> tuple[str, ...]:
    """Write the line of one field."""
    kind = listed(field.choices) if field.choices else field.type
    shown = code(json.dumps(field.example)) if field.example is not None else ""
    return code(field.name), kind, "yes" if field.required else "no", field.help, shown


def plain(text: str) -> str:
    """Write a text without any proposal in particular."""
    return text.format(number="it", controller="its controller", target="its target")
