"""Places where a test lets a worker die: before and after each commit and each call outside.

`IOA_FAILPOINT=name:kill` ends the process there as `kill -9` would; `error` raises, and `sleep`
lets the permit of a call run out. Without the variable nothing happens anywhere.
"""

from __future__ import annotations

import os
import signal
import time
from typing import NamedTuple

VARIABLE = "IOA_FAILPOINT"
DEEDS = ("kill", "error", "sleep")
SECONDS = 11.0


class Broken(Exception):
    """A failure that a test asked for."""


class Armed(NamedTuple):
    """Where something is to happen, and what."""

    name: str
    deed: str


def read(told: str) -> Armed | None:
    """Read what the environment asks for; anything else than a place and a deed is refused."""
    if not told:
        return None
    name, _, deed = told.partition(":")
    if not name or deed not in DEEDS:
        raise ValueError(f"{VARIABLE} must be a name, a colon and one of {', '.join(DEEDS)}.")
    return Armed(name, deed)


armed = read(os.environ.get(VARIABLE, ""))


def failpoint(name: str) -> None:
    """Do nothing, unless this place was chosen."""
    if armed is None or armed.name != name:
        return
    if armed.deed == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if armed.deed == "error":
        raise Broken(f"Asked for at {name}.")
    time.sleep(SECONDS)
