"""Label selectors: read from text or a matchLabels map, answered in SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.db.models import Exists, OuterRef, QuerySet

from resources.documents.problems import invalid
from resources.tables.models import Label, Resource

MOST = 20
LONGEST = 4_096
KEY = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,316}"
VALUE = r"[A-Za-z0-9._-]{0,1024}"
TERM = re.compile(
    rf"\s*(?:(?P<absent>!)\s*(?P<missing>{KEY})"
    rf"|(?P<key>{KEY})\s*(?:(?P<sign>==|=|!=)\s*(?P<value>{VALUE})"
    rf"|\s(?P<word>in|notin)\s*\((?P<values>[^()]*)\))?)\s*"
)


@dataclass(frozen=True)
class Term:
    """One demand on one label."""

    key: str
    demand: Literal["in", "notin", "exists", "absent"]
    values: tuple[str, ...] = ()


Selector = tuple[Term, ...]


def parse(text: str) -> Selector:
    """Read `a=b, c!=d, e in (x, y), f notin (z), g, !h`; all terms must hold."""
    if len(text) > LONGEST:
        raise invalid(f"A selector has at most {LONGEST:,} characters.")
    parts = split(text) if text.strip() else []
    if len(parts) > MOST:
        raise invalid(f"A selector has at most {MOST} terms.")
    return tuple(read_term(part) for part in parts)


def split(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    return re.split(r",(?![^(]*\))", text)


def read_term(text: str) -> Term:
    """Read one term."""
    found = TERM.fullmatch(text)
    if found is None:
        raise invalid(f"{text.strip()[:80]!r} is not a term such as tier=production or !region.")
    if found["absent"]:
        return Term(found["missing"], "absent")
    if found["sign"]:
        demand: Literal["in", "notin"] = "notin" if found["sign"] == "!=" else "in"
        return Term(found["key"], demand, (found["value"],))
    if found["word"]:
        values = tuple(value.strip() for value in found["values"].split(","))
        if not all(re.fullmatch(VALUE, value) for value in values):
            raise invalid(f"{text.strip()[:80]!r} has a value no selector can ask for.")
        return Term(found["key"], "in" if found["word"] == "in" else "notin", values)
    return Term(found["key"], "exists")


def match_labels(labels: Mapping[str, str]) -> Selector:
    """Turn a controller's `matchLabels` into a selector; an empty one selects everything."""
    return tuple(Term(key, "in", (value,)) for key, value in sorted(labels.items()))


def matching(resources: QuerySet[Resource], selector: Selector) -> QuerySet[Resource]:
    """Keep the resources whose labels meet every term."""
    for term in selector:
        labels = Label.objects.filter(resource=OuterRef("pk"), key=term.key)
        if term.demand in ("in", "notin"):
            labels = labels.filter(value__in=term.values)
        found = Exists(labels)
        resources = resources.filter(found if term.demand in ("in", "exists") else ~found)
    return resources
