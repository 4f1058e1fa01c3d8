"""What happened, as those outside saw it: one line of JSON for each thing."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any


class History:
    """A file that lines are added to by many at once; it is never changed."""

    def __init__(self, file: Path) -> None:
        self.file, self.lock = file, threading.Lock()
        self.out = file.open("a", encoding="utf-8")

    def add(self, **line: Any) -> None:
        """Write one line down."""
        text = json.dumps(line, separators=(",", ":"))
        with self.lock:
            self.out.write(text + "\n")
            self.out.flush()

    def read(self) -> list[dict[str, Any]]:
        """Return every line that was written so far."""
        with self.lock:
            return [json.loads(line) for line in self.file.read_text("utf-8").splitlines()]

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            self.out.close()


def busyness() -> float:
    """Return how much longer things take here because of others: up to five times."""
    return min(5.0, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def moment() -> float:
    """Return the one clock that everybody outside shares, which nothing moves."""
    return time.monotonic()
