"""Texts that try to give an agent orders: a policy's patterns, held against what is passed along.

Patterns are regular expressions without look-around or back references, as an engine reads them
whose time grows only with the text; what is none is looked for as it stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

MOST_PATTERNS = 200
LONGEST_PATTERN = 500
_OPTIONS = RegexOptions(size_limit=1 << 20)
_SPACES = re.compile(r"\s+")
# Characters that are not seen and split words for a machine only.
_INVISIBLE = {"Cf", "Cc", "Cn"}


def detected(patterns: Sequence[str], texts: Iterable[str]) -> str:
    """Return the first pattern that any of the texts fits, or nothing."""
    plain = [normal(each) for each in texts]
    for pattern in patterns[:MOST_PATTERNS]:
        if 0 < len(pattern) <= LONGEST_PATTERN and any(_fits(pattern, each) for each in plain):
            return pattern
    return ""


def normal(text: str) -> str:
    """Return a text as it is read: one form for every letter, nothing invisible, single spaces."""
    spaced = _SPACES.sub(" ", unicodedata.normalize("NFKC", text))
    seen = (each for each in spaced if unicodedata.category(each) not in _INVISIBLE)
    return "".join(seen)


def _fits(pattern: str, text: str) -> bool:
    compiled = _compiled(pattern)
    if compiled is None:
        return normal(pattern).casefold() in text.casefold()
    return compiled.is_valid(text)


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> Draft202012Validator | None:
    try:
        return Draft202012Validator({"pattern": f"(?i){pattern}"}, pattern_options=_OPTIONS)
    except (ValidationError, ValueError):
        return None
