"""A small organisation in which every field of every kind is set and every name resolves."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from resources.documents import kinds
from resources.documents.kind import Document, Kind

ORGANISATION: list[Document] = json.loads(
    (Path(__file__).parent / "organisation.json").read_text("utf-8")
)
GONE = object()


def kind(name: str) -> Kind:
    found = kinds.by_name(name)
    assert found
    return found


def sample(kind_name: str, changes: dict[str, Any] | None = None) -> Document:
    """The fullest document of a kind, with values replaced at JSON pointers; GONE removes."""
    same = (each for each in ORGANISATION if each["kind"] == kind_name)
    document = deepcopy(max(same, key=lambda each: len(str(each))))
    for pointer, value in (changes or {}).items():
        put(document, pointer, value)
    return document


def put(document: Any, pointer: str, value: Any) -> None:
    *parents, last = pointer.removeprefix("/").split("/")
    for part in parents:
        document = document[int(part) if isinstance(document, list) else part]
    key = int(last) if isinstance(document, list) else last
    if value is GONE:
        del document[key]
    else:
        document[key] = value


def organisation(changed: Document) -> list[Document]:
    """The whole organisation, with one document in the place of its namesake."""
    name = (changed["kind"], changed["metadata"]["name"])
    others = [each for each in ORGANISATION if (each["kind"], each["metadata"]["name"]) != name]
    return [changed, *others]
