"""SQL budgets: `tests/query_counts.json` holds how many statements each endpoint may run."""

from __future__ import annotations

import json
import os
from pathlib import Path

from django.db import connection

FILE = Path(__file__).resolve().parents[1] / "query_counts.json"


def expected_count(name: str, seen: int) -> int | None:
    """Return the count on record; `UPDATE_QUERY_COUNTS=1` records the one just seen."""
    vendor = connection.vendor
    counts = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    if os.environ.get("UPDATE_QUERY_COUNTS"):
        counts.setdefault("api", {}).setdefault(vendor, {})[name] = seen
        FILE.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n", "utf-8")
    found: int | None = counts.get("api", {}).get(vendor, {}).get(name)
    return found
