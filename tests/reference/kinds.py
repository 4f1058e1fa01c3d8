"""The page of kinds: every field of every resource, as its schema has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from resources.documents import kinds
from resources.documents.kind import COMMON_CONDITIONS, ConditionType, Kind
from tests.reference.writing import code, listed, table

Schema = Mapping[str, Any]
HEAD = """\
# Kinds

Every field of every resource. `python -m tests.catalogue` makes this page of
`resources/documents/kinds/`: do not edit it.

A document has `apiVersion` (`ioa.dev/v0.2`), `kind`, `metadata` and `spec`. `status` is what was
observed: agents report it, and a document may bring it for a resource that has none. **Bold**
fields are required.

"""
# Said once, at the end of the page.
SHARED = ("conditions",)


def page() -> str:
    """Write the page."""
    return (
        HEAD
        + "".join(map(section, kinds.ALL))
        + "## Every kind\n\n### Metadata\n\n"
        + table(FIELDS, [*rows(kinds.ALL[0].schema, "metadata")])
        + "\n### Conditions\n\n"
        + table(CONDITIONS, map(condition, COMMON_CONDITIONS))
    )


FIELDS = ("Field", "Type", "Meaning")
CONDITIONS = ("Condition", "Good is", "Meaning")


def section(kind: Kind) -> str:
    """Write about one kind."""
    schema = kind.schema
    said = f"## {kind.name}\n\n{schema['description']} In addresses `{kind.path}`"
    said += f", in folders `{kind.folder}/`.\n\n"
    said += table(FIELDS, [*rows(schema, "spec"), *rows(schema, "status")])
    if kind.own_conditions:
        said += "\n" + table(CONDITIONS, map(condition, kind.own_conditions))
    if kind.links:
        names = [(code(each.path), each.target) for each in kind.links]
        said += "\n" + table(("Names", "Which is"), names)
    return said + "\n"


def condition(each: ConditionType) -> tuple[str, str, str]:
    """Write about one condition."""
    return code(each.name), each.good, each.meaning


def rows(schema: Schema, part: str) -> Iterator[tuple[str, str, str]]:
    """Write every field of a part of a document."""
    yield from below(schema, schema["properties"][part], part)


def below(root: Schema, schema: Schema, path: str) -> Iterator[tuple[str, str, str]]:
    """Write the fields of an object, and those of the objects in it."""
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        field, where = resolved(root, given), f"{path}.{name}"
        shown = f"**{code(where)}**" if name in required else code(where)
        yield shown, typed(root, field), meaning(given, field)
        if name not in SHARED:
            yield from inside(root, field, where)


def inside(root: Schema, field: Schema, where: str) -> Iterator[tuple[str, str, str]]:
    """Write the fields of an object, of those in a list, or of the first form that has any."""
    forms = [resolved(root, each) for each in field.get("anyOf", [field])]
    for form in forms:
        if "items" in form:
            yield from inside(root, resolved(root, form["items"]), f"{where}[]")
        elif form.get("properties"):
            yield from below(root, form, where)


def resolved(root: Schema, schema: Schema) -> Schema:
    """Follow a reference inside the document."""
    reference = schema.get("$ref", "")
    if not reference:
        return schema
    found: Schema = root["$defs"][reference.rpartition("/")[2]]
    return resolved(root, found)


def typed(root: Schema, schema: Schema) -> str:
    """Say what a value is."""
    if "enum" in schema:
        return listed(map(str, schema["enum"]))
    if "const" in schema:
        return code(str(schema["const"]))
    if "anyOf" in schema:
        return " or ".join(typed(root, resolved(root, each)) for each in schema["anyOf"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {typed(root, resolved(root, schema.get('items', {})))}"
    if "format" in schema:
        return str(schema["format"]).removeprefix("ioa-")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def meaning(given: Schema, field: Schema) -> str:
    """Say what a field means, its bounds, and what it is without a word."""
    words = [str(given.get("description") or field.get("description") or "")]
    bounds = [field.get(name) for name in ("minimum", "maximum")]
    if any(each is not None for each in bounds):
        low, high = ("" if each is None else str(each) for each in bounds)
        words.append(f"{low} to {high}." if low and high else f"At least {low}." if low
                     else f"At most {high}.")  # fmt: skip
    if "default" in field:
        words.append(f"Without it {code(str(field['default']))}.")
    return " ".join(filter(None, words))
