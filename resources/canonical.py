"""One spelling for every value (RFC 8785), so that equal things have equal digests."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a plain value."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()
