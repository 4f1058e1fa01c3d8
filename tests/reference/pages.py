"""Every page that is made of code, by where it lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests import catalogue, measured
from tests.reference import commands, events, kinds, reasons, settings

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "reference"
PAGES: Mapping[Path, Callable[[], str]] = {
    FOLDER / "kinds.md": kinds.page,
    FOLDER / "events.md": events.page,
    FOLDER / "reasons.md": reasons.page,
    FOLDER / "settings.md": settings.page,
    FOLDER / "commands.md": commands.page,
    catalogue.TABLE: catalogue.page,
    measured.PAGE: measured.current,
}


def write() -> None:
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
