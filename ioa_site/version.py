"""The version, read from the first heading of the changelog."""

from __future__ import annotations

import re
from pathlib import Path


def read() -> str:
    """Return the newest version the changelog names."""
    changelog = Path(__file__).resolve().parent.parent / "CHANGELOG.md"
    found = re.search(r"^## v(\S+)", changelog.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError("CHANGELOG.md names no version.")
    return found[1]


VERSION = read()
