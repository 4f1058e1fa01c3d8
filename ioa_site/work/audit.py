"""Prove the ledger, and write it out."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import orjson

from ioa_site.server.progress import Bar
from resources.store import evidence
from resources.tables.models import LedgerEvent


def export_to(file: Path, *, since: int, bar: Bar) -> int:
    """Write the entries into a file that appears only when it is whole."""
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            count = export(out.write, since=since, bar=bar)
        os.replace(draft, file)
    except BaseException:
        os.unlink(draft)
        raise
    return count


def export_to_output(*, since: int, bar: Bar) -> int:
    """Write the entries to standard output."""
    return export(lambda line: sys.stdout.write(line.decode()), since=since, bar=bar)


def export(write: Callable[[bytes], int], *, since: int, bar: Bar) -> int:
    """Write each entry as one line of JSON; returns how many there were."""
    total = LedgerEvent.objects.filter(id__gt=since).count()
    count = 0
    for count, event in enumerate(evidence.export(since=since), start=1):
        write(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))
        bar("export", count, total)
    return count
