"""How the ledger's spelling of people, fields, values and times is said to people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from resources.documents import kinds
from resources.tables.batches import batches

# As many fields as one sentence names, and as long as a value in it may be.
NAMED = 3
LONGEST_VALUE = 60


def people(actors: Iterable[str]) -> dict[str, str]:
    """Return the full names of the people among actors, by how the ledger writes them."""
    usernames = {each.removeprefix("person/") for each in actors if each.startswith("person/")}
    found: dict[str, str] = {}
    for batch in batches(sorted(usernames)):
        for user in User.objects.filter(username__in=batch):
            found[f"person/{user.username}"] = user.get_full_name() or user.username
    return found


def named(actor: str, names: Mapping[str, str]) -> str:
    """Return how people call whoever did something."""
    kind, _, name = actor.partition("/")
    if kind in ("system", "policy"):
        return kind.capitalize()
    return names.get(actor) or name or actor


def place(subject: str, hold: Any = None) -> str:
    """Return where to read more about a subject, or a hold on it; nothing without a page."""
    kind, _, name = subject.partition("/")
    try:
        if isinstance(hold, int):
            return reverse("hold", args=[hold])
        if kind == "proposal" and name.isdecimal():
            return reverse("proposal", args=[int(name)])
        if kind == "group":
            return reverse("groups")
        if kind == "controller" and name:
            return reverse("controller", args=[name])
        if name and kinds.by_path(kind) is not None:
            return reverse("resource", args=[kind, name])
    except NoReverseMatch:
        pass
    return ""


def shortly(value: Any) -> str:
    """Write a value as a sentence shows it."""
    if isinstance(value, bool) or value is None:
        written = json.dumps(value)
    elif isinstance(value, int | float):
        written = f"{value:,}"
    else:
        written = value if isinstance(value, str) else json.dumps(value)
    return written if len(written) <= LONGEST_VALUE else f"{written[: LONGEST_VALUE - 1]}…"


def listed(parts: Sequence[str]) -> str:
    """Name a few and count the rest."""
    more = len(parts) - NAMED
    return ", ".join(parts[:NAMED]) + (f" and {more} more" if more > 0 else "")


def field(pointer: str) -> str:
    """Write a JSON pointer as people name a field: `tokenBudget.maxDaily`."""
    names = pointer.strip("/").split("/")
    return ".".join(names[1:] if names[0] in ("spec", "status") and names[1:] else names)


def moment(text: str) -> str:
    """Write a time of a payload, in UTC; nothing when it is none."""
    try:
        at = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return ""
    return f"{at.day} {at:%b, %H:%M} UTC"
