"""A validator of the published schemas, independent of the product's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator

_SCHEMAS = Path(__file__).parent / "published"
_LEGAL_NULLS = {("Decision", "/spec/supersededBy"), ("Workflow", "/status/completedAt")}


def problems(document: Any) -> list[str]:
    """Say everything that a validator of the published schemas would refuse."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or not (_SCHEMAS / f"{kind.lower()}.json").exists():
        return [f"no schema is published for {kind!r}"]
    errors = _validator(kind.lower()).iter_errors(document)
    found = [f"/{'/'.join(map(str, each.instance_path))}: {each.message}" for each in errors]
    nulls = (pointer for pointer in _nulls(document, "") if (kind, pointer) not in _LEGAL_NULLS)
    return [*found, *(f"{pointer}: null" for pointer in nulls)]


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((_SCHEMAS / f"{name}.json").read_text("utf-8"))
    return Draft202012Validator(schema, validate_formats=True)


def _nulls(value: Any, pointer: str) -> Iterator[str]:
    """Keys that hold null, save inside a payload, which is a JSON Schema of its own."""
    if not isinstance(value, dict | list) or pointer == "/spec/payload":
        return
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        if child is None and isinstance(value, dict):
            yield f"{pointer}/{key}"
        yield from _nulls(child, f"{pointer}/{key}")
