"""A real browser and a site for it. Every page must load without an error or a CSP violation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, sync_playwright

from .served import Site


def _chromium(playwright: Playwright) -> str:
    """The first browser found: the one named, Playwright's own, the system's."""
    own = playwright.chromium.executable_path
    for place in (os.environ.get("IOA_CHROMIUM"), own, "/usr/bin/chromium"):
        if place and Path(place).exists():
            return place
    message = "No Chromium found: set IOA_CHROMIUM, or install chromium."
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


# Per module: while Playwright runs, its event loop would disturb the other tests of the process.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=_chromium(playwright),
            chromium_sandbox=os.geteuid() != 0,
            args=["--disable-gpu", "--disable-background-networking"],
        )
        yield started
        started.close()


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as served:
        yield served


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails its test when the console shows an error, CSP violations included."""
    opened = browser.new_page()
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    opened.on("console", note)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    opened.close()
    assert errors == []
