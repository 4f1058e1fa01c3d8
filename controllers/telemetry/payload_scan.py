"""Look through payloads: for what tells who somebody is, and for words that try to take over.

Personal data is found by simple patterns, each documented beside it. They find what is written
the usual way, and are no proof that there is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from resources.documents.reader import escape

# A name, an at sign, and a host with a domain of letters: mia@example.org.
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
# With its country: a plus sign and 8 to 15 digits, spaced or not: +49 170 123 45 67.
_PHONE = re.compile(r"(?<![\w+])\+\d(?:[ ()./-]{0,2}\d){7,14}(?!\d)")
# 13 to 19 digits in one piece or in groups, beginning as cards do, with a right check digit.
_CARD = re.compile(r"(?<!\d)[2-6](?:[ -]?\d){12,18}(?!\d)")
# A country, two check digits and up to 30 letters and digits, which together leave 1 by 97.
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_SPACES = re.compile(r"\s+")


class Trace(NamedTuple):
    """Something personal: of which kind, and where."""

    kind: str
    pointer: str


def _luhn(text: str) -> bool:
    """Tell whether the last digit is the check digit of those before it."""
    total = 0
    for place, digit in enumerate(int(each) for each in reversed(text) if each.isdecimal()):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _is_iban(text: str) -> bool:
    """Tell whether the check digits of an account number are right."""
    plain = text.replace(" ", "")
    moved = plain[4:] + plain[:4]
    return int("".join(str(int(each, 36)) for each in moved)) % 97 == 1


def _always(_: str) -> bool:
    return True


PATTERNS: Mapping[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "email": (_EMAIL, _always),
    "iban": (_IBAN, _is_iban),
    "card": (_CARD, _luhn),
    "phone": (_PHONE, _always),
}


def personal(payload: Any, pointer: str = "") -> tuple[Any, list[Trace]]:
    """Return a payload with what is personal masked, and where that was."""
    if isinstance(payload, dict):
        parts = {key: personal(each, f"{pointer}/{escape(key)}") for key, each in payload.items()}
        found = [trace for _, traces in parts.values() for trace in traces]
        return {key: masked for key, (masked, _) in parts.items()}, found
    if isinstance(payload, list):
        items = [personal(each, f"{pointer}/{place}") for place, each in enumerate(payload)]
        return [masked for masked, _ in items], [trace for _, found in items for trace in found]
    if isinstance(payload, str):
        return _masked(payload, pointer)
    # A card's number may come as a number.
    if isinstance(payload, int) and not isinstance(payload, bool):
        masked, found = _masked(str(payload), pointer)
        return (masked if found else payload), found
    return payload, []


def _masked(text: str, pointer: str) -> tuple[str, list[Trace]]:
    found: list[Trace] = []
    for kind, (pattern, holds) in PATTERNS.items():

        def replaced(match: re.Match[str], kind: str = kind, holds: Any = holds) -> str:
            if not holds(match[0]):
                return match[0]
            found.append(Trace(kind, pointer))
            return f"[{kind}]"

        text = pattern.sub(replaced, text)
    return text, found


def words(payload: Any) -> Iterator[str]:
    """Yield every text of a payload, names of fields too."""
    if isinstance(payload, str):
        yield payload
    elif isinstance(payload, dict):
        for key, each in payload.items():
            yield key
            yield from words(each)
    elif isinstance(payload, list):
        for each in payload:
            yield from words(each)


def plain(payload: Any) -> str:
    """Return all texts of a payload as one: no spacing, spelling or hidden sign tells it apart."""
    text = unicodedata.normalize("NFKC", "\n".join(words(payload)))
    seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
    return _SPACES.sub(" ", seen)
