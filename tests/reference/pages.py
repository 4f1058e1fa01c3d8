"""Every page that is made of code, by where it lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests import catalogue, measured
from tests.reference import (
    answers,
    commands,
    contexts,
    dimensions,
    events,
    kinds,
    reasons,
    rights,
    settings,
)

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "reference"
# Contexts come first: where two pages have one name, the last one is meant by it.
PAGES: Mapping[Path, Callable[[], str]] = {
    **contexts.pages(),
    FOLDER / "kinds.md": kinds.page,
    FOLDER / "answers.md": answers.page,
    FOLDER / "dimensions.md": dimensions.page,
    FOLDER / "events.md": events.page,
    FOLDER / "reasons.md": reasons.page,
    FOLDER / "rights.md": rights.page,
    FOLDER / "settings.md": settings.page,
    FOLDER / "commands.md": commands.page,
    catalogue.TABLE: catalogue.page,
    measured.PAGE: measured.current,
}


def write() -> None:
    """Write them all."""
    for path, page in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), encoding="utf-8")
