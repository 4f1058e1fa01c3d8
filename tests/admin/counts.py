"""SQL budgets of pages: `tests/query_counts.json` holds how many statements each may run."""

from __future__ import annotations

import json
import os
from pathlib import Path

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

FILE = Path(__file__).resolve().parents[1] / "query_counts.json"


def statements(client: Client, address: str) -> int:
    """Return how many statements a page takes."""
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    assert answer.status_code == 200
    return len(queries)


def expected(section: str, name: str, seen: int) -> int | None:
    """Return the count on record; `UPDATE_QUERY_COUNTS=1` records the one just seen."""
    counts = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    if os.environ.get("UPDATE_QUERY_COUNTS"):
        counts.setdefault(section, {}).setdefault(connection.vendor, {})[name] = seen
        FILE.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n", "utf-8")
    found: int | None = counts.get(section, {}).get(connection.vendor, {}).get(name)
    return found
