"""Titles: what would be done, verb first, with its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controllers import operations
from controllers.models import Proposal


def number(proposal: Proposal) -> str:
    """Return the short name people use: P-2381."""
    return f"P-{proposal.pk}"


def question(proposal: Proposal) -> str:
    """Ask whether it is to be done: the title with a question mark."""
    return f"{title(proposal)}?"


def title(proposal: Proposal) -> str:
    """Say what would be done, verb first: "Throttle growth-optimizer to 58% …"."""
    name = proposal.resource.name
    said = [phrase(name, each) for each in proposal.actions]
    if not said:
        return f"Change {name}"
    if len(said) == 1:
        return said[0]
    more = f", and {len(said) - 2} more" if len(said) > 2 else ""
    return f"{said[0]} and {lowered(said[1])}{more}"


def phrase(name: str, action: Mapping[str, Any]) -> str:
    """Say what one action would do to a resource."""
    found = operations.find(str(action.get("operation", "")))
    if found is None:
        return f"Change {name}"
    return found.phrase(name, action.get("parameters") or {})


def lowered(sentence: str) -> str:
    """Let a sentence go on after another; names that are capitals stay so."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]
