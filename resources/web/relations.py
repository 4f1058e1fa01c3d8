"""What a resource names, and what names it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.urls import reverse

from resources.documents import kinds
from resources.store import references
from resources.tables.models import Reference, Resource
from resources.web.changes import place

MOST = 24
# Steps of a path that say nothing of what somebody is to somebody.
PLAIN = ("spec", "metadata", "name", "names", "ref")
READ = 200

Name = tuple[str, str]


@dataclass(frozen=True)
class Relation:
    """One resource at the other end, and the fields that lead there."""

    kind: str
    name: str
    icon: str
    fields: str
    state: Literal["there", "missing", "elsewhere"]
    url: str = ""


@dataclass(frozen=True)
class Relations:
    """Both directions; `more` says that some were left out."""

    names: tuple[Relation, ...]
    named_by: tuple[Relation, ...]
    more_names: bool
    more_named_by: bool


def of(row: Resource) -> Relations:
    """Return the relations of a live resource."""
    out = list(row.references.order_by("pointer"))
    into = Reference.objects.filter(
        target_kind=row.kind, target_name=row.name, resource__deleted_at=None
    )
    into = into.select_related("resource").only("pointer", "resource__kind", "resource__name")
    pointing = list(into.order_by("resource__kind", "resource__name", "pointer")[:READ])
    named = grouped(((r.resource.kind, r.resource.name), r) for r in pointing)
    names = grouped(((r.target_kind, r.target_name), r) for r in out)
    shown = dict(list(names.items())[:MOST])
    present = references.existing(shown)
    return Relations(
        tuple(relation(name, found, present) for name, found in shown.items()),
        tuple(relation(name, found, {name}) for name, found in list(named.items())[:MOST]),
        len(names) > MOST,
        len(named) > MOST or len(pointing) == READ,
    )


def grouped(found: Iterable[tuple[Name, Reference]]) -> dict[Name, list[Reference]]:
    """Put the references to or from one resource together."""
    result: dict[Name, list[Reference]] = {}
    for name, each in found:
        result.setdefault(name, []).append(each)
    return result


def relation(name: Name, found: list[Reference], present: set[Name]) -> Relation:
    """Return one end; a name that only may exist is not missing."""
    kind = kinds.by_name(name[0])
    fields = ", ".join(dict.fromkeys(field(each.pointer) for each in found))
    icon = kind.icon if kind else "boxes"
    if kind is not None and name in present:
        url = reverse("resource", args=[kind.path, name[1]])
        return Relation(kind.title, name[1], icon, fields, "there", url)
    expected = any(each.severity != "info" for each in found)
    state: Literal["missing", "elsewhere"] = "missing" if expected else "elsewhere"
    return Relation(kind.title if kind else name[0], name[1], icon, fields, state)


def field(pointer: str) -> str:
    """Name the field behind a pointer in words: places in lists do not matter here."""
    steps = [step for step in place(pointer).split(".") if not step.isdecimal()]
    if steps[:2] == ["metadata", "ownerReferences"]:
        return "owner"
    told = [step for step in steps if step not in PLAIN] or steps
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", told[-1]).lower()
