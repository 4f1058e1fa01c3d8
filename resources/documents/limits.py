"""How large the parts of a document may be: the same answer on every database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from resources.documents.kind import Document, Fault
from resources.documents.paths import at
from resources.documents.reader import escape

PARTS = {"/spec": 128, "/status": 128, "/metadata/annotations": 16}
TEXTS = {
    "metadata.ownerReferences[].kind": 32,
    "metadata.ownerReferences[].name": 253,
    "status.conditions[].type": 253,
    "status.conditions[].reason": 1024,
    "status.conditions[].managedBy": 300,
}
# In bytes: PostgreSQL's index over labels takes rows of at most 2,704.
LABEL_KEY = 317
LABEL_VALUE = 1024


def sizes(document: Document) -> Iterator[Fault]:
    """Yield a problem for each part that is larger than its column or its limit."""
    for pointer, kilobytes in PARTS.items():
        for _, value in at(document, pointer.strip("/").replace("/", ".")):
            if len(orjson.dumps(value)) > kilobytes * 1024:
                yield Fault(pointer, f"This is larger than {kilobytes} kB.")
    for path, most in TEXTS.items():
        for pointer, value in at(document, path):
            if isinstance(value, str) and len(value) > most:
                yield Fault(pointer, f"This is longer than {most} characters.")
    yield from labels(document.get("metadata", {}).get("labels"))


def labels(found: Any) -> Iterator[Fault]:
    """Yield a problem for each label that no selector could carry."""
    for key, value in found.items() if isinstance(found, dict) else ():
        if not key or len(key.encode()) > LABEL_KEY or len(str(value).encode()) > LABEL_VALUE:
            message = f"A label has a key of 1 to {LABEL_KEY} and a value of up to {LABEL_VALUE}"
            yield Fault(f"/metadata/labels/{escape(key[:80])}", f"{message} bytes.")
