"""Find Chromium and open it for a test; without one, fail in CI and skip loudly elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

# The same browser without windows, first: it starts and opens pages in half the time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
MISSING = "No Chromium: install it, or name one in IOA_CHROMIUM."


def chromium(bundled: str = "") -> str | None:
    """Find the program: $IOA_CHROMIUM, playwright's own (`bundled`), then the system's."""
    named = os.environ.get("IOA_CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"IOA_CHROMIUM names {named}, which is not a file.")
        return named
    bundled = bundled or _bundled()
    if Path(bundled).is_file():
        return bundled
    found = (shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/bin") for name in NAMES)
    return next((path for path in found if path), None)


def _bundled() -> str:
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


@contextmanager
def launch() -> Iterator[Browser]:
    """Open a browser. Its event loop occupies the thread: use no database inside."""
    with sync_playwright() as playwright:
        program = chromium(playwright.chromium.executable_path)
        if program is None:
            _give_up(MISSING)
        # The pages are our own, and the sandbox cannot be set up as root or in most containers.
        browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
        try:
            yield browser
        finally:
            browser.close()


def _give_up(reason: str) -> None:
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(reason)
    pytest.skip(reason)
