"""Query parameters, read strictly: a bad value is an answer, never an accident."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.core import signing
from rest_framework.request import Request

from resources.documents import kinds
from resources.documents.durations import DURATION_HINT, parse_duration
from resources.documents.kind import Kind
from resources.documents.problems import invalid
from resources.store.snapshots import parse_instant

MOST = 200
USUAL = 50
# Well inside what a database's 64-bit column can hold.
LARGEST = 10**18 - 1
FLAGS = {"true": True, "1": True, "false": False, "0": False}


def number(request: Request, name: str, *, least: int = 0, most: int = LARGEST) -> int | None:
    """Read a whole number within bounds."""
    text = request.query_params.get(name)
    return None if text is None else as_number(text, name, least=least, most=most)


def as_number(text: str, name: str, *, least: int = 0, most: int = LARGEST) -> int:
    """Turn a text into a whole number within bounds."""
    plain = text.isascii() and text.isdecimal() and len(text) <= 18
    if not plain or not least <= int(text) <= most:
        bounds = f"from {least} to {most}" if most < LARGEST else f"from {least}"
        raise invalid(f"{name} is a whole number {bounds}.")
    return int(text)


def limit(request: Request) -> int:
    """Read how many items a page has."""
    return number(request, "limit", least=1, most=MOST) or USUAL


def flag(request: Request, name: str) -> bool:
    """Read a switch; absent is off."""
    return bool(choice(request, name))


def choice(request: Request, name: str) -> bool | None:
    """Read a filter that can also be left open."""
    text = request.query_params.get(name)
    if text is not None and text not in FLAGS:
        raise invalid(f"{name} is true or false.")
    return None if text is None else FLAGS[text]


def at(request: Request) -> datetime | None:
    """Read the time to look back at."""
    return instant(request, "at")


def instant(request: Request, name: str) -> datetime | None:
    """Read a time."""
    text = request.query_params.get(name)
    if text is None:
        return None
    # A plus sign that was not escaped arrives as a space.
    found = read_instant(text.replace(" ", "+"))
    if found is None:
        raise invalid(f"{name} is a time with a zone, such as 2026-02-25T10:00:00Z.")
    return found


def duration(request: Request, name: str, *, most: timedelta) -> timedelta | None:
    """Read a duration that is not longer than a bound."""
    text = request.query_params.get(name)
    if text is None:
        return None
    found = parse_duration(text)
    if found is None or found > most:
        raise invalid(f"{name} {DURATION_HINT}, and at most {most.days}d.")
    return found


def read_instant(text: str) -> datetime | None:
    """Turn a text into a time in UTC; nothing when it is none, or lies beyond the calendar."""
    found = parse_instant(text)
    try:
        return found.astimezone(UTC) if found is not None else None
    except OverflowError:
        return None


def kind(request: Request) -> Kind | None:
    """Read the kind to narrow a feed to."""
    text = request.query_params.get("kind")
    if text is None:
        return None
    found = kinds.by_path(text) or kinds.by_name(text)
    if found is None:
        allowed = [each.path for each in kinds.ALL]
        raise invalid(f"There is no kind {text[:80]!r}.", allowed=allowed)
    return found


class Cursor:
    """Where a list goes on; signed, and of use only with the filters it was made for."""

    def __init__(self, request: Request, kind: str) -> None:
        filters = {**request.query_params.dict(), "kind": kind}
        kept = sorted((k, v) for k, v in filters.items() if k not in ("cursor", "limit"))
        self.signer = signing.Signer(salt=f"resources.api.cursor:{kept!r}")
        self.text = request.query_params.get("cursor")

    def after(self) -> str:
        """Return the last name of the page before."""
        if self.text is None:
            return ""
        try:
            name: str = self.signer.unsign_object(self.text)
        except signing.BadSignature:
            raise invalid("This cursor is not one of this list. Start again without it.") from None
        return name

    def following(self, name: str) -> str:
        """Return the cursor of the page behind a name."""
        return self.signer.sign_object(name)
