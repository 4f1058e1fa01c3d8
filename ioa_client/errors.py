"""What can go wrong: the product says no, or does not answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONGEST_TEXT = 300


class Failure(Exception):
    """A call that came to nothing."""


class Unreachable(Failure):
    """The product did not answer."""


class Problem(Failure):
    """The product said no (RFC 9457): why, where, and when to ask again."""

    def __init__(
        self, status: int, document: Mapping[str, Any], retry_after: float | None
    ) -> None:
        self.status = status
        self.document = dict(document)
        self.title = str(document.get("title", f"The product answered {status}"))
        self.detail = str(document.get("detail", "")) or self.title
        self.pointer: str | None = document.get("pointer")
        self.retry_after = retry_after
        super().__init__(self.detail)

    @property
    def slug(self) -> str:
        """Return the kind of problem in one word, such as `conflict`."""
        return str(self.document.get("type", "")).rpartition("/")[2]


def problem_of(status: int, headers: Mapping[str, str], body: bytes) -> Problem:
    """Read an answer that is no success, whoever gave it."""
    try:
        document = json.loads(body)
    except ValueError:
        document = {"detail": body[:LONGEST_TEXT].decode(errors="replace").strip()}
    if not isinstance(document, dict):
        document = {}
    # A proxy may spell its headers otherwise.
    lowered = {name.lower(): text for name, text in headers.items()}
    return Problem(status, document, seconds_in(lowered.get("retry-after")))


def seconds_in(text: str | None) -> float | None:
    """Read `Retry-After` where it counts seconds."""
    return float(text) if text is not None and text.isascii() and text.isdecimal() else None
