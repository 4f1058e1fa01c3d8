"""Who runs the command, and when."""

from __future__ import annotations

import getpass
import os
from datetime import UTC, datetime

from resources.documents.actor import Actor


def person() -> Actor:
    """Return the person at the keyboard; a container may have a number without a name."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):
        name = f"uid-{os.getuid()}"
    return Actor("person", name)


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)
