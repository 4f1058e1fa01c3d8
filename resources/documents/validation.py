"""What is wrong with a document, and with a set of documents, in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import orjson
from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from resources.documents.kind import Document, Fault, Kind, Reference
from resources.documents.kinds import ALL, by_name
from resources.documents.paths import texts, without_nulls

_NOT_JSON = "must be plain JSON: names are text, whole numbers fit 64 bits, depth is at most 250"
_TYPES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_PATTERNS = {
    "^[a-z][a-z0-9-]*$": "must start with a to z and hold only a to z, 0 to 9 and hyphens",
    "^DEC-[0-9]+$": "must be DEC- and a number, such as DEC-12",
    "^[a-z]+\\.[a-z][a-z0-9_]*$": "must be an event name such as product.feature_released",
}
_FORMATS = {
    "date-time": "must be a date and time with a zone, such as 2026-02-25T10:00:00Z",
    "date": "must be a date such as 2026-02-25",
}
_SENTENCES: dict[str, Callable[[Any], str]] = {
    "type": lambda types: _must_be(types),
    "enum": lambda options: _one_of(options),
    "const": lambda value: _one_of([value]),
    "pattern": lambda pattern: _PATTERNS.get(pattern, f"must match {pattern}"),
    "format": lambda name: _FORMATS.get(name, f"must be a {name}"),
    "minimum": lambda limit: f"must be at least {limit}",
    "maximum": lambda limit: f"must be at most {limit}",
    "maxLength": lambda limit: f"must have at most {limit} characters",
    "minItems": lambda limit: f"must have at least {limit} item{'s' if limit > 1 else ''}",
}
_DANGLING = {
    "kpi": 'no Domain has a KPI called "{name}"',
    "asset": 'no Domain owns data called "{name}"',
    "event": 'no Telemetry describes the event "{name}"',
    "16": '"{name}" is no Agent, so it is taken for the role of a person',
}
_CHAIN_RULE = "14"

Name = tuple[str, str]


def check(document: Document) -> list[Fault]:
    """Every problem inside one document, in reading order; any value at all may be given."""
    try:
        orjson.dumps(document)
    except TypeError:
        return [Fault("", _NOT_JSON)]
    return sorted(_problems(document), key=_reading_order)


def cross_check(
    documents: Sequence[Document], known: Container[tuple[str, str]]
) -> list[list[Fault]]:
    """Problems between documents, one list for each; `known` holds what exists outside the set."""
    pairs = [(_kind_of(document), document) for document in documents]
    here = {name for kind, document in pairs if kind for name in _brought(kind, document)}
    circles = _circles(dict(link for kind, document in pairs for link in _chain(kind, document)))
    taken: set[Name] = set()
    found = []
    for kind, document in pairs:
        problems = list(_repeated(kind, document, taken))
        for reference in kind.references(document) if kind else ():
            name = (reference.target, reference.name)
            if name not in here and name not in known:
                problems.append(_dangling(reference))
            elif reference.rule == _CHAIN_RULE and circles.intersection(_names(kind, document)):
                problems.append(_circular(reference))
        found.append(sorted(problems, key=_reading_order))
    return found


def _problems(document: Any) -> Iterator[Fault]:
    if not isinstance(document, dict):
        yield Fault("", "must be an object with apiVersion, kind, metadata and spec")
        return
    kind = _kind_of(document)
    if kind is None:
        missing = document.get("kind") is None
        names = [each.name for each in ALL]
        yield Fault("/kind", "is required" if missing else _one_of(names))
        return
    plain = without_nulls(document, kind.nullable)
    for error in _validator(kind).iter_errors(plain):
        yield from _explained(error)
    yield from kind.checks(plain)
    if not kind.targetable:
        yield from _target_kind(plain)


@cache
def _validator(kind: Kind) -> Draft202012Validator:
    return Draft202012Validator(kind.schema, validate_formats=True)


def _kind_of(document: Any) -> Kind | None:
    name = document.get("kind") if isinstance(document, dict) else None
    return by_name(name) if isinstance(name, str) else None


def _target_kind(document: Document) -> Iterator[Fault]:
    """Here, because only the registry knows every kind."""
    targets = [kind.name for kind in ALL if kind.targetable]
    for pointer, name in texts(document, "spec.targetKind"):
        if name not in targets:
            yield Fault(pointer, _one_of(targets), rule="22")


def _names(kind: Kind | None, document: Document) -> Iterator[Name]:
    if kind:
        yield from ((kind.name, name) for _, name in texts(document, "metadata.name"))


def _brought(kind: Kind, document: Document) -> Iterator[Name]:
    yield from _names(kind, document)
    yield from ((each.namespace, each.name) for each in kind.declarations(document))


def _repeated(kind: Kind | None, document: Document, taken: set[Name]) -> Iterator[Fault]:
    for name in _names(kind, document):
        if name in taken:
            yield Fault("/metadata/name", f"must be unique: another {name[0]} here has this name")
        taken.add(name)


def _chain(kind: Kind | None, document: Document) -> Iterator[tuple[Name, Name]]:
    for child in _names(kind, document):
        for reference in kind.references(document) if kind else ():
            if reference.rule == _CHAIN_RULE:
                yield child, (reference.target, reference.name)


def _circles(parents: dict[Name, Name]) -> set[Name]:
    """Every name that comes back to itself when one goes from child to parent."""
    circles: set[Name] = set()
    visited: set[Name] = set()
    for start in parents:
        line: list[Name] = []
        place = start
        while place in parents and place not in visited:
            visited.add(place)
            line.append(place)
            place = parents[place]
        if place in line:
            circles.update(line[line.index(place) :])
    return circles


def _circular(reference: Reference) -> Fault:
    message = f'must not lead back here, as it does through "{reference.name}"'
    return Fault(reference.pointer, message, reference.severity, reference.rule)


def _dangling(reference: Reference) -> Fault:
    sentence = _DANGLING.get(reference.rule) or _DANGLING.get(reference.target)
    message = (sentence or '{target} "{name}" does not exist').format(
        target=reference.target, name=reference.name
    )
    return Fault(reference.pointer, message, reference.severity, reference.rule)


def _explained(error: ValidationError) -> Iterator[Fault]:
    pointer = "".join(_step(part) for part in error.instance_path)
    match error.kind:
        case ValidationErrorKind.AnyOf(context=branches):
            yield from _closest(error, pointer, branches)
        case ValidationErrorKind.Required(property=name):
            yield Fault(pointer + _step(name), "is required")
        case ValidationErrorKind.AdditionalProperties(unexpected=names):
            yield from (Fault(pointer + _step(name), "is not a known field") for name in names)
        case other:
            sentence = _SENTENCES.get(other.name, lambda _: f"does not fit: {error.message}")
            yield Fault(pointer, sentence(other.value))


def _closest(
    error: ValidationError, pointer: str, branches: list[list[ValidationError]]
) -> Iterator[Fault]:
    """Speak of the first alternative that has the right type, else of the types."""
    types: list[str] = []
    for branch in branches:
        wrong = [
            name
            for each in branch
            if each.instance_path == error.instance_path and each.kind.name == "type"
            for name in each.kind.value
        ]
        if not wrong:
            for each in branch:
                yield from _explained(each)
            return
        types += wrong
    yield Fault(pointer, _must_be(types))


def _must_be(types: Iterable[str]) -> str:
    return "must be " + " or ".join(_TYPES[name] for name in types if name in _TYPES)


def _one_of(options: Sequence[Any]) -> str:
    choice = ", ".join(str(option) for option in options)
    return f"must be one of {choice}" if len(options) > 1 else f"must be {choice}"


def _step(part: object) -> str:
    return "/" + str(part).replace("~", "~0").replace("/", "~1")


def _reading_order(problem: Fault) -> tuple[list[tuple[int, str]], str]:
    """Items of a list in their own order: 2 before 10."""
    steps = problem.pointer.split("/")
    return [(len(s) if s.isdecimal() else 0, s) for s in steps], problem.message
