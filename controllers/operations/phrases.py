"""How a title says what an operation would do, verb first, with its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controllers.engine.document_values import figure, number

Parameters = Mapping[str, Any]
# What is said of a resource's name and the parameters.
Phrase = Callable[[str, Parameters], str]


def plain(text: str) -> Phrase:
    """Say a text with the name in it, and what the resource becomes."""

    def said(name: str, given: Parameters) -> str:
        return text.format(name=name, to=given.get("to") or given.get("type") or "as it was")

    return said


def names(given: Parameters, field: str) -> list[str]:
    """Return the names that a parameter lists."""
    found = given.get(field)
    return [str(each) for each in found] if isinstance(found, list) else []


def percent(share: Any) -> str:
    """Write a share as a percentage."""
    amount = number(share)
    return f"{figure(round(amount * 100, 1))}%" if amount is not None else "a part"
