"""YAML 1.2 core, both ways: plain values from text, and text every YAML reader agrees on."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, cast

from ruamel.yaml import cyaml
from ruamel.yaml import events as event
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from resources.documents.kind import Fault
from resources.documents.reader import (
    MAX_DEPTH,
    ROOT,
    Path,
    Repeated,
    Unacceptable,
    Unreadable,
    admit,
    decode,
    pointer_to,
    read_float,
    read_integer,
    too_deep,
)

# Typed as Any: the C half of ruamel.yaml has no types.
libyaml: Any = cyaml
INTEGER = re.compile(r"[-+]?[0-9]+")
OCTAL = re.compile(r"0o[0-7]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
WORDS = {"": None, "~": None} | {
    spelling: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for spelling in (word, word.capitalize(), word.upper())
}
# What YAML 1.1 readers (PyYAML, Go's yaml.v2) take for something else than text.
ELDER = re.compile(
    r"(?i:y|n|yes|no|on|off|=|<<)|[-+]?[.0-9][0-9_,:.]*([eE][-+]?[0-9]+)?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|[-+]?0[bBoxX][0-9a-fA-F_]+"
)
CORE_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq")}


def read_yaml(data: bytes | str) -> Any:
    """Read one YAML document."""
    values = read_all(data)
    if len(values) != 1:
        message = f"Give exactly one document here, not {len(values)}."
        raise Unreadable([Fault("", message)])
    return values[0]


def read_all(data: bytes | str) -> list[Any]:
    """Read every document of a YAML stream; empty documents are left out."""
    documents = [admit(value) for value, _ in compose(data)]
    return [document for document in documents if document is not None]


def lines(data: bytes | str) -> list[dict[str, int]]:
    """Return, for each document that is not empty, the line of every JSON pointer."""
    found = compose(data, every_line=True)
    return [positions for value, positions in found if value is not None]


def compose(
    data: bytes | str, *, every_line: bool = False
) -> Iterator[tuple[Any, dict[str, int]]]:
    """Yield each document as values not yet admitted, with the line it begins at.

    With `every_line` the line of every JSON pointer is noted too.
    """
    try:
        yield from _Composer(decode(data), every_line).documents()
    except MarkedYAMLError as error:
        raise Unreadable([Fault("", f"This is not YAML: {said(error)}.")]) from None
    except (YAMLError, UnicodeError) as error:
        message = str(error).splitlines()[0] if str(error) else "it cannot be read"
        raise Unreadable([Fault("", f"This is not YAML: {message}.")]) from None


def said(error: MarkedYAMLError) -> str:
    """Put a YAML error into one line with its place."""
    mark = error.problem_mark or error.context_mark
    place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"{error.problem or error.context}{place}"


class _Composer:
    def __init__(self, text: str, every_line: bool) -> None:
        self.parser = libyaml.CParser(text)
        self.every_line = every_line
        self.anchors: dict[str, Any] = {}
        self.positions: dict[str, int] = {}

    def documents(self) -> Iterator[tuple[Any, dict[str, int]]]:
        while not isinstance(current := self.parser.get_event(), event.StreamEndEvent):
            if isinstance(current, event.DocumentStartEvent):
                root = self.parser.get_event()
                self.anchors, self.positions = {}, {"": root.start_mark.line + 1}
                yield self.node(root, ROOT, 0), self.positions

    def node(self, current: Any, path: Path, depth: int) -> Any:
        if self.every_line:
            # A key has noted its own line already: that is where its value is looked for.
            self.positions.setdefault(pointer_to(path), current.start_mark.line + 1)
        if isinstance(current, event.AliasEvent):
            return self.alias(current, path)
        if current.tag is not None:
            refuse_tag(current, path)
        if isinstance(current, event.ScalarEvent):
            value = scalar(current)
        elif depth >= MAX_DEPTH:
            raise Unreadable([too_deep(pointer_to(path))])
        elif isinstance(current, event.SequenceStartEvent):
            value = self.sequence(path, depth)
        else:
            value = self.mapping(path, depth)
        if current.anchor:
            self.anchors[current.anchor] = value
        return value

    def alias(self, current: Any, path: Path) -> Any:
        if current.anchor not in self.anchors:
            raise refusal(path, f"The alias *{current.anchor} names nothing above it.")
        return self.anchors[current.anchor]

    def sequence(self, path: Path, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(current := self.parser.get_event(), event.SequenceEndEvent):
            items.append(self.node(current, (path, len(items)), depth + 1))
        return items

    def mapping(self, path: Path, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        repeated: str | None = None
        while not isinstance(current := self.parser.get_event(), event.MappingEndEvent):
            key = key_of(current, path)
            repeated = key if key in result and repeated is None else repeated
            if self.every_line:
                self.positions[pointer_to((path, key))] = current.start_mark.line + 1
            result[key] = self.node(self.parser.get_event(), (path, key), depth + 1)
        if repeated is None:
            return result
        marked = Repeated(result)
        marked.key = repeated
        return marked


def refusal(path: Path, message: str) -> Unreadable:
    """Say what cannot be read, and where."""
    return Unreadable([Fault(pointer_to(path), message)])


def refuse_tag(current: Any, path: Path) -> None:
    """Refuse a tag that asks for anything but text, a list or an object."""
    if current.tag != "!" and current.tag not in CORE_TAGS:
        raise refusal(path, f"The tag {current.tag} is not read here.")


def key_of(current: Any, path: Path) -> str:
    """Return a mapping's key as text."""
    if not isinstance(current, event.ScalarEvent):
        raise refusal(path, "A key must be plain text.")
    if current.tag is not None:
        refuse_tag(current, path)
    if current.value == "<<" and current.style in (None, ""):
        raise refusal(path, "Merge keys (<<) are not part of YAML 1.2.")
    return cast(str, current.value)


def scalar(current: Any) -> Any:
    """Resolve one scalar by the core schema."""
    text: str = current.value
    if current.tag is not None or current.style not in (None, ""):
        return text
    return resolve(text)


def resolve(text: str) -> Any:
    """Return what an unquoted text means in YAML 1.2 core."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return read_integer(text)
    if FLOAT.fullmatch(text):
        return read_float(text)
    if OCTAL.fullmatch(text):
        return int(text[2:], 8) if len(text) < 16 else Unacceptable("This number is too large")
    if HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16) if len(text) < 16 else Unacceptable("This number is too large")
    if NOT_FINITE.fullmatch(text):
        return Unacceptable(f"{text} is not a finite number")
    return text


def write_yaml(value: Any) -> str:
    """Write one document as YAML that 1.1 and 1.2 readers understand alike."""
    return write_all([value])


def write_all(values: list[Any]) -> str:
    """Write several documents as one stream."""
    out = io.StringIO()
    emitter = libyaml.CEmitter(out, width=99, allow_unicode=True)
    emitter.emit(event.StreamStartEvent())
    for index, value in enumerate(values):
        emitter.emit(event.DocumentStartEvent(explicit=index > 0))
        for each in flatten(value):
            emitter.emit(each)
        emitter.emit(event.DocumentEndEvent(explicit=False))
    emitter.emit(event.StreamEndEvent())
    text = out.getvalue()
    # Only a mark of the emitter's own begins its line; a text's "..." is indented or quoted.
    return text.removesuffix("...\n") if text.endswith("\n...\n") else text


def flatten(value: Any) -> Iterator[Any]:
    """Yield the events of one value, containers in block style unless empty."""
    if isinstance(value, dict):
        yield event.MappingStartEvent(None, None, True, flow_style=not value)
        for key, item in value.items():
            yield text_event(key)
            yield from flatten(item)
        yield event.MappingEndEvent()
    elif isinstance(value, list):
        yield event.SequenceStartEvent(None, None, True, flow_style=not value)
        for item in value:
            yield from flatten(item)
        yield event.SequenceEndEvent()
    elif isinstance(value, str):
        yield text_event(value)
    else:
        yield event.ScalarEvent(None, None, (True, False), plain(value), style="")


def text_event(text: str) -> Any:
    """Quote a text unless every reader takes it for the same text."""
    if "\n" in text:
        style = "|"
    elif not isinstance(resolve(text), str) or ELDER.fullmatch(text):
        style = '"'
    else:
        style = ""
    return event.ScalarEvent(None, None, (True, True), text, style=style)


def plain(value: Any) -> str:
    """Spell a number, a truth value or nothing."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    mantissa, e, exponent = repr(value).partition("e")
    # YAML 1.1 reads 1e-07 as text, and 1.0e-07 as the number it is.
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else repr(value)
