"""What an operation is, and the plain values its parts exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from jsonschema_rs import Draft202012Validator

from controllers.engine.terms import Class, Risk
from controllers.operations.phrases import Phrase

Document = Mapping[str, Any]
Hand = Literal["control-plane", "agent"]


class Absence(Enum):
    """A value that stands for none at all; null is a value."""

    REMOVE = "remove"


REMOVE: Final = Absence.REMOVE


class Impossible(Exception):
    """It cannot be done to this resource as it stands; the message says why."""


class FieldChange(NamedTuple):
    """One field of one resource that is to be something else; `REMOVE` takes it away."""

    kind: str
    name: str
    path: str
    value: Any


class Subject(NamedTuple):
    """A resource as an operation sees it."""

    kind: str
    name: str
    domain: str
    spec: Document
    status: Document

    def change(self, path: str, value: Any) -> FieldChange:
        """Say that a field of it is to be something else."""
        return FieldChange(self.kind, self.name, path, value)


class Reach(NamedTuple):
    """The other resources an operation needs: those of these names, or else a whole domain."""

    kind: str
    names: tuple[str, ...] = ()
    domain: str = ""


class Context(NamedTuple):
    """What an operation is about: its target, the others it reaches, and the time."""

    target: Subject
    others: tuple[Subject, ...]
    now: datetime

    @property
    def instant(self) -> str:
        """The time, as documents spell it."""
        return self.now.astimezone(UTC).isoformat().replace("+00:00", "Z")


Changes = Callable[[Context, Document], Sequence[FieldChange]]


def parameters(required: Sequence[str] = (), /, **properties: Document) -> dict[str, Any]:
    """Describe the parameters of an operation; what is not named here is refused."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


NAME: Document = {"type": "string", "maxLength": 253}
NAMES: Document = {"type": "array", "items": NAME, "maxItems": 1_000}
REASON: Document = {"type": "string", "maxLength": 500}


def _touches_nothing(_: Document) -> tuple[str, ...]:
    return ()


def _reaches_nothing(_: Subject, __: Document) -> None:
    return None


def _not_declared(_: Subject) -> bool:
    return False


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """One thing an action can do: what it takes, what it risks, who does it, how it is undone."""

    name: str
    title: str
    # What it does, verb first.
    sentence: str
    kind: Class
    risk: Risk
    targets: tuple[str, ...]
    parameters: dict[str, Any]
    # How one sees that it worked.
    seen: str
    # How a title says it, with the name of the target and its parameters.
    says: Phrase | None = None
    reversible: bool = True
    destructive: bool = False
    # Whether it changes what is declared for good, or takes an agent over: two people approve.
    redeclares: bool = False
    # Whether doing it twice is the same as doing it once.
    idempotent: bool = True
    executor: Hand = "control-plane"
    # Whether it is done to a run; one that is kept here is the control plane's to move.
    on_runs: bool = False
    # Whether no machine outside may take it.
    here: bool = False
    # What is declared anew, in the control plane; what only tells people declares nothing.
    changes: Changes | None = None
    reach: Callable[[Subject, Document], Reach | None] = _reaches_nothing
    # The fields it writes: a person's override of one of them stands in its way.
    touches: Callable[[Document], tuple[str, ...]] = _touches_nothing
    # Whether the spec says so already, so that only the agent itself can bring it about.
    declared: Callable[[Subject], bool] = _not_declared
    # The operation that undoes it, where it takes one.
    opposite: str = ""

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The schema of its parameters, compiled once."""
        return Draft202012Validator(self.parameters)

    def phrase(self, name: str, given: Document) -> str:
        """Say what it would do to a resource, verb first."""
        return self.says(name, given) if self.says else f"{self.title} {name}"

    @property
    def tells(self) -> bool:
        """Whether it only tells people, which the loop does by itself."""
        return self.kind == "notify"
