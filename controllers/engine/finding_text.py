"""Words for what was found amiss: names, values and lists as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from controllers.engine.document_values import figure, number, quantity
from controllers.engine.terms import Drift, Evidence, Spend

MOST_NAMED = 3
_LONGEST = 200


def missed(drift: Drift, dimension: str) -> dict[str, Evidence]:
    """Return what a dimension found amiss, by name."""
    measured = drift.of(dimension)
    evidence = measured.evidence if measured else ()
    return {name_of(each): each for each in evidence if each.verdict == "missed"}


def name_of(evidence: Evidence) -> str:
    """Return the name in the subject of a piece of evidence: `churn` of `kpi/churn`."""
    return evidence.subject.partition("/")[2]


def listed(words: Sequence[str]) -> str:
    """Join words as people do, and only count those beyond the first few."""
    if len(words) > MOST_NAMED:
        words = [*words[:MOST_NAMED], f"{len(words) - MOST_NAMED} more"]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def spending_of(spending: Sequence[Spend]) -> str:
    """Write what was used of which limits."""
    return listed(
        [
            f"{each.name} {figure(each.consumed)} of {quantity(each.allocated, each.unit)}"
            for each in spending
        ]
    )


def shown(value: Any) -> str:
    """Write a value of a document for people, cut to a readable length."""
    amount = number(value)
    written = figure(amount) if amount is not None else "nothing" if value is None else str(value)
    return written if len(written) <= _LONGEST else f"{written[:_LONGEST]}…"


def figures_of(wrong: Mapping[str, Evidence]) -> str:
    """Write what was found amiss by name: what is there, and what is wanted."""
    return listed(
        [
            f"{name} is {shown(each.observed)} (wanted {shown(each.desired)})"
            for name, each in wrong.items()
        ]
    )


def spelled(name: str) -> str:
    """Write a field's name as words: `errorRate` is "Error rate"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = [each if each.isupper() and len(each) > 1 else each.lower() for each in spaced.split()]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without its full stop."""
    return re.split(r"(?<=[.;!?])\s", text.strip(), maxsplit=1)[0].rstrip(".;")
