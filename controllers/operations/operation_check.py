"""Whether an operation and its parameters can be proposed, and how much they risk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from jsonschema_rs import ValidationError, ValidationErrorKind

from controllers.engine.terms import Risk
from controllers.operations.catalogue import ALL, find
from controllers.operations.operation import Operation
from resources.documents.kind import Fault
from resources.documents.reader import escape

RISKS: tuple[Risk, ...] = get_args(Risk)
# What parameters call the resource they are about.
SELF: Mapping[str, str] = {
    "Agent": "agent",
    "Budget": "budget",
    "Decision": "decision",
    "Domain": "domain",
    "Governance": "governance",
    "Memory": "memory",
    "SecurityPolicy": "policy",
    "Workflow": "workflow",
}


def check(name: str, parameters: Any, kind: str, target: str = "") -> list[Fault]:
    """Return everything that is wrong with an operation that somebody proposes for a resource."""
    operation = find(name)
    if operation is None:
        known = ", ".join(each.name for each in ALL if not each.tells)
        return [Fault("/operation", f"must be one of {known}")]
    if operation.tells:
        return [Fault("/operation", "only tells people, so there is nothing to propose")]
    if kind not in operation.targets:
        return [Fault("/operation", f"is for {', '.join(operation.targets)}, not for {kind}")]
    return [*faults(operation, parameters)] or [*stray(operation, parameters, kind, target)]


def faults(operation: Operation, parameters: Any) -> Iterator[Fault]:
    """Yield what the schema has against the parameters."""
    for error in operation.validator.iter_errors(parameters):
        at = "".join(f"/{escape(str(part))}" for part in ("parameters", *error.instance_path))
        yield from explained(error, at)


def explained(error: ValidationError, at: str) -> Iterator[Fault]:
    """Say what is wrong in one place."""
    match error.kind:
        case ValidationErrorKind.Required(property=name):
            yield Fault(f"{at}/{escape(name)}", "is required")
        case ValidationErrorKind.AdditionalProperties(unexpected=names):
            yield from (Fault(f"{at}/{escape(name)}", "is not a known field") for name in names)
        case _:
            yield Fault(at, f"does not fit: {error.message}")


def stray(
    operation: Operation, parameters: Mapping[str, Any], kind: str, target: str
) -> Iterator[Fault]:
    """Refuse parameters that speak of another resource than the one they are for."""
    key = SELF.get(kind, "")
    known = key in operation.parameters["properties"]
    if target and known and parameters.get(key, target) != target:
        yield Fault(f"/parameters/{key}", f"must be {target}, whom it is for")


def risk_of(actions: Iterable[Mapping[str, Any]]) -> Risk:
    """Return the highest risk of some actions: the catalogue's or, where it is higher, theirs."""
    return max((_risk(each) for each in actions), key=RISKS.index, default="low")


def _risk(action: Mapping[str, Any]) -> Risk:
    operation = find(action["operation"])
    least: Risk = operation.risk if operation else "high"
    said = action.get("risk", least)
    return max(least, said if said in RISKS else "high", key=RISKS.index)
