"""What this machine remembers of the database, in a file that no backup of it contains."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

logger = logging.getLogger("ioa.restoring")


class LocalCheckpoint(NamedTuple):
    """The newest entry of the ledger that was seen, and in which incarnation."""

    incarnation: UUID
    entry: int = 0
    hash: str = ""
    at: str = ""


def file() -> Path:
    """Name the file, which all processes of one machine share."""
    return Path(settings.DATA_DIR) / "incarnation"


def read() -> LocalCheckpoint | None:
    """Return what is remembered; nothing on a machine that is new to the database."""
    try:
        kept = json.loads(file().read_text(encoding="utf-8"))
        entry, digest, at = int(kept["entry"]), str(kept["hash"]), str(kept["at"])
        return LocalCheckpoint(UUID(kept["incarnation"]), entry, digest, at)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("%s cannot be read and is written anew: %s", file(), error)
        return None


def keep(seen: LocalCheckpoint) -> None:
    """Remember the newest entry; what is known already is not written again."""
    try:
        if not is_known(seen):
            with alone():
                if not is_known(seen):
                    write(seen)
    except OSError as error:
        # A container may have no disk: then only IOA_INCARNATION tells of a restore.
        logger.warning("What was seen of the database cannot be kept: %s", error)


def is_known(seen: LocalCheckpoint) -> bool:
    """Tell whether as much, or more, of this incarnation is remembered."""
    kept = read()
    return kept is not None and kept.incarnation == seen.incarnation and kept.entry >= seen.entry


@contextmanager
def alone() -> Iterator[None]:
    """Let the processes of one machine write one after the other."""
    file().parent.mkdir(parents=True, exist_ok=True)
    with file().with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write(seen: LocalCheckpoint) -> None:
    """Put the file in the place of the one before, so that a power loss leaves one of them."""
    folder = file().parent
    handle, draft = tempfile.mkstemp(dir=folder, prefix="incarnation.")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump(seen._asdict() | {"incarnation": str(seen.incarnation)}, out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(draft, file())
    listing = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(listing)
    finally:
        os.close(listing)
