"""What must still be true of a target when an action begins, as its plan wrote it down."""

from __future__ import annotations

from controllers.engine.programs import compile_condition
from controllers.models import Proposal
from resources.documents.expressions import Check, read_action
from resources.documents.expressions.syntax import KINDS, Invalid
from resources.tables.models import Resource

ROOTS = {kind: root for root, kind in KINDS.items()}


def unmet(proposal: Proposal) -> str:
    """Return the sentence about the first condition that does not hold, or nothing."""
    if proposal.undoing:
        return ""
    for action in proposal.actions:
        for condition in action.get("preconditions", ()):
            if not holds(condition, proposal.resource):
                return f"It asks for {condition}, which is not so."
    return ""


def holds(condition: str, target: Resource) -> bool:
    """Tell whether a condition is true of a target; one that cannot be read is not."""
    try:
        asked = read_action(f"check {condition}", target.kind)
    except Invalid:
        return False
    if not isinstance(asked, Check):
        return False
    metadata = {**target.metadata, "name": target.name, "generation": target.generation}
    seen = {"metadata": metadata, "spec": target.spec, "status": target.status}
    passed, _ = compile_condition(asked.condition).check({ROOTS[target.kind]: seen})
    return passed is True
