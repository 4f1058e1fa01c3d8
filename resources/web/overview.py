"""What several pages say about a resource: who answers for it, and what its conditions mean."""

from __future__ import annotations

from resources.documents import kinds
from resources.documents.kind import Document
from resources.tables.models import Condition


def owner_name(metadata: Document) -> str:
    """Return who answers for a resource, in either spelling."""
    owner = metadata.get("owner")
    return (owner.get("name") if isinstance(owner, dict) else owner) or ""


def tally(kind_name: str, conditions: list[Condition]) -> dict[str, int]:
    """Count conditions by what they mean, not by what they say: Paused=False is good."""
    result = {"good": 0, "bad": 0, "unknown": 0}
    for each in conditions:
        result[meaning(kind_name, each.type, each.status)] += 1
    return result


def meaning(kind_name: str, type_: str, status: str) -> str:
    """Tell whether a condition is good or bad news."""
    kind = kinds.by_name(kind_name)
    wanted = {each.name: each.good for each in kind.condition_types} if kind else {}
    if status == "Unknown":
        return "unknown"
    return "good" if status == wanted.get(type_, "True") else "bad"
