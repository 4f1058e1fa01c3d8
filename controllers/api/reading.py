"""Read the values of a body: each strictly, each refused with its place."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from controllers.api.decisions import text_in
from resources.api.problems import invalid

LONGEST_KEY = 200
LONGEST_NUMBER = 18


def key_in(request: Request) -> str:
    """Read what a caller names its request by; repeated, it does nothing new."""
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise invalid(f"Idempotency-Key has up to {LONGEST_KEY} printable characters.")
    return key


def number_in(body: dict[str, Any], name: str) -> int:
    """Read a fence or an epoch, which must be given: as the text it was told in, or a number."""
    value = body.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    plain = isinstance(value, str) and value.isascii() and value.isdecimal()
    if not plain or not isinstance(value, str) or len(value) > LONGEST_NUMBER:
        raise invalid(f"{name} is the number you were given.", f"/{name}")
    return int(value)


def count_in(body: dict[str, Any], name: str, most: int) -> int | None:
    """Read a whole number from nothing to a bound; absent is none."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise invalid(f"{name} is a whole number from 0 to {most}.", f"/{name}")
    return value


def short_in(body: dict[str, Any], name: str, most: int) -> str:
    """Read a text of bounded length; absent is empty."""
    value = text_in(body, name)
    if len(value) > most:
        raise invalid(f"{name} has up to {most} characters.", f"/{name}")
    return value


def word_in(body: dict[str, Any], name: str, words: tuple[str, ...]) -> str:
    """Read one of some words, which must be given."""
    value = text_in(body, name)
    if value not in words:
        raise invalid(f"{name} is one of {', '.join(words)}.", f"/{name}", allowed=[*words])
    return value


def object_in(body: dict[str, Any], name: str) -> dict[str, Any]:
    """Read an object; absent is an empty one."""
    value = body.get(name, {})
    if not isinstance(value, dict):
        raise invalid(f"{name} is an object.", f"/{name}")
    return value
