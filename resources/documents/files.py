"""Documents in files, folders and streams: plain values in, text out, faults with their place."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import orjson

from resources.documents import kinds
from resources.documents.kind import Document, Fault
from resources.documents.reader import Unreadable, admit, decode, read_json
from resources.documents.yaml_text import compose, write_all

Media = Literal["json", "yaml"]
Progress = Callable[[int, int], None]

STANDARD_INPUT = "-"
MEDIA: dict[str, Media] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
ORGANISATION_FOLDER = ".ioa"
SKIPPED_FOLDERS = ("node_modules",)
FOREIGN = "not an IOA document: it has neither apiVersion nor kind"


@dataclass(frozen=True)
class Loaded:
    """One document and where it came from; without a document, `problems` says why.

    `index` counts the documents of a source from 1; `line` is 0 where it is not known.
    """

    source: str
    index: int
    document: Any | None
    problems: tuple[Fault, ...] = ()
    line: int = 0
    # Kept so that lines are looked for only when somebody asks.
    text: str = field(default="", repr=False, compare=False)
    # The document's place in its text: which one of a stream, and where inside a list.
    position: int = 0
    prefix: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is an error, rather than a document that was skipped."""
        return any(each.severity == "error" for each in self.problems)


@dataclass(frozen=True)
class Source:
    """A file to be read, or a path that cannot be."""

    path: str
    within_folder: bool = False
    problem: str = ""


def load_paths(
    paths: Iterable[str], progress: Progress = lambda done, total: None
) -> list[Loaded]:
    """Load files, folders and `-`; what cannot be read becomes a problem of its file."""
    sources = find(paths)
    loaded: list[Loaded] = []
    for position, source in enumerate(sources):
        loaded += load_source(source)
        progress(position + 1, len(sources))
    return loaded


def find(paths: Iterable[str]) -> list[Source]:
    """List what the paths stand for, each file once."""
    found: dict[str, Source] = {}
    for path in paths:
        real = os.path.realpath(path)
        for source in find_one(path):
            found.setdefault(real + source.path.removeprefix(path.rstrip("/")), source)
    return list(found.values())


def find_one(path: str) -> Iterator[Source]:
    """List the files one path stands for."""
    if path == STANDARD_INPUT:
        yield Source(path)
    elif os.path.isdir(path):
        inside = list(walk(path))
        yield from inside or [Source(path, problem="holds no .yaml, .yml or .json file")]
    elif os.path.exists(path):
        yield Source(path)
    else:
        yield Source(path, problem="does not exist")


def walk(folder: str) -> Iterator[Source]:
    """Yield the files of a folder that can hold documents, in one order everywhere."""
    closed: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(name for name in folders if enters(name))
        for name in sorted(files):
            if media_named(name) and not name.startswith("."):
                yield Source(os.path.join(parent, name), within_folder=True)
    for error in closed:
        yield Source(str(error.filename), problem=f"cannot be read: {error.strerror}")


def enters(folder: str) -> bool:
    """Tell whether documents are looked for in a folder of this name."""
    if folder == ORGANISATION_FOLDER:
        return True
    return not folder.startswith(".") and folder not in SKIPPED_FOLDERS


def load_source(source: Source) -> list[Loaded]:
    """Load one file."""
    if source.problem:
        return [failure(source.path, source.problem)]
    try:
        text = decode(read_bytes(source.path))
    except OSError as error:
        return [failure(source.path, f"cannot be read: {error.strerror or error}")]
    except Unreadable as error:
        return [Loaded(source.path, 1, None, tuple(error.problems))]
    loaded = load_text(text, source=source.path, media=media_of(source.path, text))
    if source.within_folder:
        return [skipped_if_foreign(each) for each in loaded]
    return loaded or [failure(source.path, "holds no document")]


def read_bytes(path: str) -> bytes:
    """Read a whole file or standard input."""
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    return Path(path).read_bytes()


def media_of(path: str, text: str) -> Media:
    """Tell the format by the name; without a telling name, by how the text begins."""
    return media_named(path) or ("json" if text.lstrip().startswith(("{", "[")) else "yaml")


def media_named(path: str) -> Media | None:
    """Tell the format a name speaks of, if it speaks of one."""
    return MEDIA.get(os.path.splitext(path)[1].lower())


def failure(source: str, message: str) -> Loaded:
    """Make the answer for a source without any document."""
    return Loaded(source, 1, None, (Fault("", message),))


def load_text(text: str, *, source: str, media: Media) -> list[Loaded]:
    """Load every document of a text: a stream, a list, or `items`."""
    loaded: list[Loaded] = []
    values = read_values(text, media)
    for position, (value, problems, lines) in enumerate(values):
        for prefix, each in documents_in(value):
            line = lines.get(prefix, 0)
            place = (text, position, prefix)
            faults = problems or tuple(foreign(each))
            document = None if faults else each
            index = len(loaded) + 1
            loaded.append(Loaded(source, index, document, faults, line, *place))
    return loaded


Read = tuple[Any, tuple[Fault, ...], dict[str, int]]


def read_values(text: str, media: Media) -> Iterator[Read]:
    """Yield the values of a text with their problems and lines; reading ends where it must."""
    try:
        if media == "json":
            yield read_json(text), (), {"": 1}
            return
        for value, lines in compose(text):
            if value is not None:
                yield admitted(value, lines)
    except Unreadable as error:
        yield None, tuple(error.problems), {}


def admitted(value: Any, lines: dict[str, int]) -> Read:
    """Admit one value of a stream, so that a bad one does not hide its neighbours."""
    try:
        return admit(value), (), lines
    except Unreadable as error:
        return None, tuple(error.problems), lines


def documents_in(value: Any) -> list[tuple[str, Any]]:
    """Return the documents of one value with their pointers: a list and `items` hold many."""
    if isinstance(value, dict) and isinstance(value.get("items"), list) and "kind" not in value:
        prefix, items = "/items", value["items"]
    elif isinstance(value, list):
        prefix, items = "", value
    else:
        return [("", value)]
    if items and all(any(foreign(item)) for item in items):
        return [("", value)]
    return [(f"{prefix}/{index}", item) for index, item in enumerate(items)]


def foreign(value: Any) -> Iterator[Fault]:
    """Yield the problem of a value that does not even claim to be a document."""
    if not isinstance(value, dict) or not value.keys() & {"apiVersion", "kind"}:
        yield Fault("", FOREIGN)


def skipped_if_foreign(loaded: Loaded) -> Loaded:
    """Beside documents lie other files: in a folder they are passed over with a notice."""
    if [each.message for each in loaded.problems] != [FOREIGN]:
        return loaded
    notice = Fault("", f"skipped, {FOREIGN}", "info")
    return Loaded(loaded.source, loaded.index, None, (notice,), loaded.line, loaded.text)


def identity(document: Any) -> tuple[str, str]:
    """Return kind and name as far as a document has them."""
    if not isinstance(document, dict):
        return ("", "")
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    kind = document.get("kind")
    return (kind if isinstance(kind, str) else "", name if isinstance(name, str) else "")


def upgraded(document: Any) -> Any:
    """Return the document in its v0.2 form."""
    kind = kinds.by_name(identity(document)[0])
    return kind.upgrade(document) if kind else document


def where(loaded: Loaded, problem: Fault) -> str:
    """Say where a problem is: `agents/a.yaml, document 2, line 14, /spec/domain`."""
    source = "standard input" if loaded.source == STANDARD_INPUT else loaded.source
    lines = lines_of(loaded.text)
    several = loaded.index > 1 or len(lines) > 1 or bool(loaded.prefix)
    line = line_of(loaded, problem.pointer, lines) if several or problem.pointer else 0
    parts = [
        source,
        f"document {loaded.index}" if several else "",
        f"line {line}" if line else "",
        problem.pointer,
    ]
    return ", ".join(part for part in parts if part)


def line_of(loaded: Loaded, pointer: str, lines: Sequence[dict[str, int]]) -> int:
    """Return the line of a place or of what surrounds it; 0 when nothing is known."""
    if loaded.position >= len(lines):
        return 0
    known = lines[loaded.position]
    place = loaded.prefix + pointer
    while place and place not in known:
        place = place.rpartition("/")[0]
    return known.get(place, 0)


@lru_cache(maxsize=4)
def lines_of(text: str) -> list[dict[str, int]]:
    """Read a text again for its lines; JSON counts as YAML, and what breaks off is left out."""
    found: list[dict[str, int]] = []
    with contextlib.suppress(Unreadable):
        for value, lines in compose(text, every_line=True):
            found += [lines] if value is not None else []
    return found


def dump(document: Document, media: Media) -> str:
    """Write one document as text that ends with a line break."""
    return dump_all([document], media) if media == "yaml" else as_json(document)


def dump_all(documents: Sequence[Document], media: Media) -> str:
    """Write many documents as a text that loads again: a YAML stream, or JSON with `items`."""
    return write_all(list(documents)) if media == "yaml" else as_json({"items": list(documents)})


def as_json(value: Any) -> str:
    """Write indented JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
