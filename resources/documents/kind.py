"""What a resource kind is, and the plain values that kinds and validation exchange."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from resources.documents.durations import DURATION_HINT, parse_duration
from resources.documents.paths import from_text, objects, rewrite, texts, without_nulls

Document = dict[str, Any]
Severity = Literal["error", "warning", "info"]
Edit = Callable[[Document], None]

# Each from the weakest to the strongest.
MODES = ("observe", "advise", "warn", "enforce")
SEVERITIES = ("info", "warning", "error", "critical")

V01 = "ioa.dev/v0.1"
V02 = "ioa.dev/v0.2"

_SCHEMAS = Path(__file__).parent / "kinds" / "schemas"
_TIME_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class Fault:
    """One sentence about one place of a document; `pointer` is an RFC 6901 JSON pointer."""

    pointer: str
    message: str
    severity: Severity = "error"
    rule: str = ""


@dataclass(frozen=True)
class Reference:
    """A name that a document expects to exist; `target` is a kind or a declared namespace."""

    pointer: str
    target: str
    name: str
    severity: Severity
    rule: str


@dataclass(frozen=True)
class Declaration:
    """A name that a document brings into being, besides its own."""

    namespace: str
    name: str


@dataclass(frozen=True)
class ConditionType:
    """A condition a resource can carry; `good` is the status that means all is well."""

    name: str
    good: Literal["True", "False"]
    meaning: str


@dataclass(frozen=True)
class Link:
    """A place where a kind names another resource; with `wildcard`, `*` names them all."""

    path: str
    target: str
    severity: Severity
    rule: str
    wildcard: bool = False


def conditions(**meanings: str) -> tuple[ConditionType, ...]:
    """Condition types whose True is the good state."""
    return tuple(ConditionType(name, "True", meaning) for name, meaning in meanings.items())


# The last six have negative polarity: their True is the bad state.
COMMON_CONDITIONS = (
    ConditionType("ReferencesResolved", "True", "Every resource it names exists."),
    ConditionType("SLOCompliant", "True", "Its service level objectives are met."),
    ConditionType("Reconciling", "False", "A controller is working on it."),
    ConditionType("Progressing", "False", "A change is under way."),
    ConditionType("Degraded", "False", "It works, but worse than it should."),
    ConditionType("Stalled", "False", "Its work has stopped."),
    ConditionType("Paused", "False", "A person has paused it."),
    ConditionType("Overridden", "False", "A person's override stands over it."),
)


def _no_edit(_: Document) -> None:
    """Leave the document as it is."""


def _no_problems(*_: Document) -> Iterator[Fault]:
    return iter(())


def _no_references(_: Document) -> Iterator[Reference]:
    return iter(())


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One resource kind: its names, its schema, and what it refers to, declares and accepts."""

    name: str
    path: str
    folder: str
    title: str
    plural: str
    icon: str
    order: int
    versions: tuple[str, ...] = (V02,)
    targetable: bool = True
    own_conditions: tuple[ConditionType, ...] = ()
    domain_path: str = "spec.domain"
    links: tuple[Link, ...] = ()
    # Pairs of a namespace and the path of the names declared in it.
    declares: tuple[tuple[str, str], ...] = ()
    # Lists of texts or objects, with the object that a text stands for.
    unions: Mapping[str, Callable[[str], Document]] = field(default_factory=dict)
    # Places where null is a value rather than an absence.
    nullable: tuple[str, ...] = ()
    own_references: Callable[[Document], Iterator[Reference]] = _no_references
    own_checks: Callable[[Document], Iterator[Fault]] = _no_problems
    proven: tuple[str, ...] = ()  # fields of the status that only the product's evidence moves
    # Which guards a change weakens; each is a place and a sentence.
    lowered: Callable[[Document, Document], Iterator[Fault]] = _no_problems
    # Places whose guards two people have to take away before it may be deleted.
    guards: tuple[str, ...] = ()
    # Each edit changes a private copy: accept other spellings, go to v0.2, satisfy validators.
    tolerate: Edit = _no_edit
    migrate: Edit = _no_edit
    complete: Edit = _no_edit

    @property
    def schema(self) -> Document:
        """Our JSON Schema of the whole document, draft 2020-12, without outside references."""
        return _schema(self)

    @property
    def condition_types(self) -> tuple[ConditionType, ...]:
        """Conditions a resource of this kind can carry: its own, then those of every kind."""
        return (*self.own_conditions, *COMMON_CONDITIONS)

    def domain_of(self, document: Document) -> str:
        """The domain the resource belongs to, or nothing."""
        return next((name for _, name in texts(document, self.domain_path)), "")

    def references(self, document: Document) -> Iterator[Reference]:
        """Every name the document expects to exist."""
        for link in self.links:
            for pointer, name in texts(document, link.path):
                if not (link.wildcard and name == "*"):
                    known_as = fold(link.target, name)
                    yield Reference(pointer, link.target, known_as, link.severity, link.rule)
        yield from self.own_references(document)

    def declarations(self, document: Document) -> Iterator[Declaration]:
        """Every name the document brings into being, besides its own."""
        for namespace, path in self.declares:
            for _, name in texts(document, path):
                yield Declaration(namespace, fold(namespace, name))

    def checks(self, document: Document) -> Iterator[Fault]:
        """Rules inside one document that its schema cannot say."""
        for path in _paths_of(self, "ioa-duration"):
            for pointer, text in texts(document, path):
                if parse_duration(text) is None:
                    yield Fault(pointer, DURATION_HINT, "warning")
        yield from self.own_checks(document)

    def upgrade(self, document: Document) -> Document:
        """Bring v0.1 and tolerated spellings to v0.2, in a copy."""
        copy: Document = without_nulls(document, self.nullable)
        if isinstance(copy, dict):
            self.tolerate(copy)
            if copy.get("apiVersion") == V01 and V01 in self.versions:
                self._to_v02(copy)
        return copy

    def publish(self, document: Document) -> Document:
        """Write what a validator of the published schemas accepts, in a copy."""
        copy = self.upgrade(document)
        if isinstance(copy, dict):
            copy["apiVersion"] = V02
            for path, make in self.unions.items():
                _one_form(copy, path, make)
            for path in _paths_of(self, "date-time"):
                rewrite(copy, path, from_text(_zoned))
            self.complete(copy)
        return copy

    def _to_v02(self, document: Document) -> None:
        document["apiVersion"] = V02
        rewrite(document, "metadata.owner", from_text(_owner))
        for path, make in self.unions.items():
            rewrite(document, f"{path}[]", from_text(make))
        self.migrate(document)


def fold(namespace: str, name: str) -> str:
    """Event names are the same with `-` and with `_`; any other name is itself."""
    return name.replace("-", "_") if namespace == "event" else name


def _owner(name: str) -> Document:
    return {"name": name, "role": "owner"}


def _zoned(time: str) -> str:
    return f"{time}Z" if _TIME_WITHOUT_ZONE.fullmatch(time) else time


def _one_form(document: Document, path: str, make: Callable[[str], Document]) -> None:
    """Published lists are never empty and hold either texts or objects, not both."""
    parent, _, name = path.rpartition(".")
    for holder in objects(document, parent):
        items = holder.get(name)
        if items == []:
            del holder[name]
        elif isinstance(items, list) and not all(isinstance(item, str) for item in items):
            holder[name] = [from_text(make)(item) for item in items]


@cache
def _schema(kind: Kind) -> Document:
    schema: Document = json.loads((_SCHEMAS / "envelope.json").read_text("utf-8"))
    own: Document = json.loads((_SCHEMAS / f"{kind.path}.json").read_text("utf-8"))
    head = {"apiVersion": {"enum": list(kind.versions)}, "kind": {"const": kind.name}}
    return {
        **schema,
        "title": kind.title,
        "description": own["description"],
        "properties": {**schema["properties"], **head, **own["properties"]},
        "$defs": {**schema["$defs"], **own.get("$defs", {})},
    }


@cache
def _paths_of(kind: Kind, wanted: str) -> tuple[str, ...]:
    """Paths of every field whose schema has this format."""
    definitions = kind.schema["$defs"]

    def walk(node: Any, path: str) -> Iterator[str]:
        if not isinstance(node, dict):
            return
        if "$ref" in node:
            yield from walk(definitions[node["$ref"].rpartition("/")[2]], path)
        if node.get("format") == wanted:
            yield path
        for branch in node.get("anyOf", ()):
            yield from walk(branch, path)
        for name, child in node.get("properties", {}).items():
            yield from walk(child, f"{path}.{name}" if path else name)
        yield from walk(node.get("items"), f"{path}[]")

    return tuple(walk(kind.schema, ""))
