"""A typed document: read it, and say at which line what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from resources.admin.resource_request import as_text
from resources.documents import files, limits, validation
from resources.documents.kind import Document, Fault, Kind, Severity
from resources.documents.reader import Unreadable
from resources.documents.yaml_text import read_yaml
from resources.store import references
from resources.store.snapshots import declared_metadata
from resources.web.changes import place

AT_LINE = re.compile(r" at line (\d+)")
MOST = 100
SEED = "is taken only while nothing was reported about the resource"


@dataclass(frozen=True)
class Mark:
    """A problem with its line, the way the editor shows it."""

    line: int
    pointer: str
    message: str
    severity: Severity

    def as_item(self) -> dict[str, Any]:
        """Return what the editor reads."""
        return asdict(self)


@dataclass(frozen=True)
class Reading:
    """What a text says, or why it cannot be taken."""

    document: Document
    marks: tuple[Mark, ...]

    @property
    def failed(self) -> bool:
        """Whether the text cannot be saved."""
        return any(each.severity == "error" for each in self.marks)

    @property
    def declaration(self) -> Document:
        """What would be stored of a document that can be saved."""
        current = files.upgraded(self.document)
        return {"metadata": declared_metadata(current), "spec": current["spec"]}

    @property
    def text(self) -> str:
        """The document the way it would be stored."""
        kind, name = files.identity(self.document)
        return as_text(kind, name, **self.declaration)


def read(text: str, kind: Kind, name: str = "") -> Reading:
    """Read a document of a kind; with a name, it must stay the document of that resource."""
    document: Document = {}
    try:
        document = read_yaml(text)
        problems = list(checked(document, kind, name))
    except Unreadable as error:
        problems = error.problems
    return Reading(document, tuple(marks(problems[:MOST], text)))


def checked(document: Any, kind: Kind, name: str) -> Iterator[Fault]:
    """Yield what is wrong, and what may be."""
    own = list(misplaced(document, kind, name))
    if any(each.pointer == "/kind" for each in own):
        yield from own
        return
    current = files.upgraded(document)
    found = own + validation.check(current)
    yield from found
    if not any(each.severity == "error" for each in found):
        yield from limits.sizes(current)
        yield from dangling(current)


def misplaced(document: Any, kind: Kind, name: str) -> Iterator[Fault]:
    """Yield what would make this another resource, or more than a declaration."""
    told, called = files.identity(document)
    if told and told != kind.name:
        yield Fault("/kind", f"must be {kind.name} on this page")
    if name and called and called != name:
        yield Fault(
            "/metadata/name", f"must stay {name}: a resource keeps its name. Add a new one instead"
        )
    if isinstance(document, dict) and document.get("status"):
        yield Fault("/status", SEED, "warning")


def dangling(document: Document) -> Iterator[Fault]:
    """Yield the names that lead nowhere; they may arrive later, so they are warnings."""
    known = references.Known(references.existing(references.mentioned(document)))
    for problem in validation.cross_check([document], known)[0]:
        if problem.severity != "info":
            yield replace(problem, severity="warning")


def marks(problems: Iterable[Fault], text: str) -> Iterator[Mark]:
    """Find the line of each problem: its own place, or what surrounds it."""
    lines = next(iter(files.lines_of(text)), {})
    for each in problems:
        where = each.pointer
        while where and where not in lines:
            where = where.rpartition("/")[0]
        told = AT_LINE.search(each.message) if not each.pointer else None
        line = int(told[1]) if told else lines.get(where, 1)
        yield Mark(line, each.pointer, sentence(each), each.severity)


def sentence(problem: Fault) -> str:
    """Make a whole sentence: what is said about a place begins with the place."""
    message = problem.message
    if message[:1].islower():
        message = f"{place(problem.pointer) or 'The document'} {message}"
    return message if message.endswith((".", "?", "!")) else f"{message}."


def skeleton(kind: Kind) -> Document:
    """Return the least a document of a kind has: the fields its schema requires."""
    schema = kind.schema
    spec = least(schema["properties"]["spec"], schema["$defs"])
    return {
        "apiVersion": kind.versions[-1],
        "kind": kind.name,
        "metadata": {"name": ""},
        "spec": spec,
    }


def least(schema: Document, definitions: Document) -> Any:
    """Return the smallest value of the right shape; texts stay empty for a person to fill."""
    if "$ref" in schema:
        return least(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return least(schema["anyOf"][0], definitions)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [""])[0])
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        return {name: least(fields[name], definitions) for name in schema.get("required", ())}
    if schema.get("type") == "array":
        return [least(schema["items"], definitions)] * schema.get("minItems", 0)
    return 0 if schema.get("type") in ("number", "integer") else ""


def unversioned(document: Document) -> Document:
    """Leave out a version that was typed: the page keeps the one it was made from."""
    metadata = {k: v for k, v in document["metadata"].items() if k != "resourceVersion"}
    return {**document, "metadata": metadata}
