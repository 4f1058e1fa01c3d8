"""A line that shows how far a long command has come; silent unless a person watches."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 24
EVERY = 0.1
# Below this, a command is done before a bar could be read.
PATIENCE = 0.4


class Bar:
    """Draws `check [######      ] 4,000 of 10,000` on one line, phase after phase."""

    def __init__(self, *, forced: bool = False, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.moving = self.stream.isatty()
        self.active = forced or self.moving
        self.patience = 0.0 if forced else PATIENCE
        self.began = self.drawn = time.monotonic()
        self.phase = ""
        self.visible = False

    def __call__(self, phase: str, done: int, total: int = 0) -> None:
        """Show a phase; without a total, only what is being done."""
        now = time.monotonic()
        whole = bool(total) and done >= total
        due = phase != self.phase or whole or now - self.drawn >= EVERY
        if not self.active or not due or now - self.began < self.patience:
            return
        if self.moving or whole or phase != self.phase:
            self.draw(phase, done, total)
            self.drawn = now
        self.phase = phase

    def draw(self, phase: str, done: int, total: int) -> None:
        """Write the line: in place on a terminal, one line for each phase's ends elsewhere."""
        line = f"{phase:<6} {picture(done, total)}"
        self.stream.write(f"\r\x1b[K{line}" if self.moving else f"{line}\n")
        self.stream.flush()
        self.visible = self.moving

    def clear(self) -> None:
        """Take the line away before the answer is printed."""
        if self.visible:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.visible = False


def picture(done: int, total: int) -> str:
    """Draw one state of the bar."""
    if not total:
        return f"{done:,}" if done else "…"
    filled = WIDTH * min(done, total) // total
    return f"[{'#' * filled}{' ' * (WIDTH - filled)}] {done:,} of {total:,}"
