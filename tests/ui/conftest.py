"""A real browser and a site for it. Every page must load without an error or a CSP violation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.browser import launch

from .served import Site


# Per module: while Playwright runs, its event loop would disturb the other tests of the process.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launch() as started:
        yield started


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
