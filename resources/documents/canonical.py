"""One spelling for every value (RFC 8785), so that equal things have equal digests."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any

import orjson
import rfc8785

# Between these every encoder writes the same digits for a number, without an exponent.
_LEAST, _MOST = 1e-4, 1e15
_LARGEST = 2**53 - 1


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a plain value."""
    if _simple(value):
        # Half a surrogate is refused here and reported there.
        with suppress(orjson.JSONEncodeError):
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _simple(value: Any) -> bool:
    """Tell whether a fast encoder writes a value as the standard says; nearly all are so."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is dict:
        # Keys are sorted by other units elsewhere, and the same in ASCII.
        for key, each in value.items():
            if type(key) is not str or not key.isascii() or not _simple(each):
                return False
        return True
    if kind is list or kind is tuple:
        return all(map(_simple, value))
    if kind is int:
        return bool(-_LARGEST <= value <= _LARGEST)
    return kind is float and bool(_LEAST <= abs(value) < _MOST and not value.is_integer())
