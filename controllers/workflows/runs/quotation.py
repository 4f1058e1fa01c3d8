"""What agents wrote, made fit to be shown: without signs that nobody sees, and not too long."""

from __future__ import annotations

import unicodedata

LONGEST = 200


def harmless(text: str) -> str:
    """Return a text of an agent without signs that nobody sees, and not too long."""
    seen = "".join(
        each if unicodedata.category(each)[0] != "C" else " " for each in text[: 2 * LONGEST]
    )
    plain = " ".join(seen.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
