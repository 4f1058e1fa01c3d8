"""A browser and a running demo for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import launch

from .acting import Colleague
from .stage import Stage, fail_on_errors, staged

# A busy machine is slow; whoever measures how fast something is names a time.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Open a browser; its event loop occupies the thread, so these tests use no database."""
    with launch() as browser:
        yield browser


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Stage]:
    """Start the product with its example organisation."""
    with staged(tmp_path_factory.mktemp("demo"), browser, "--demo") as stage:
        yield stage


@pytest.fixture
def stage(demo: Stage) -> Iterator[Stage]:
    """Return the running demo; the test fails when a page met an error."""
    yield demo
    demo.close()
    fail_on_errors(demo)


@pytest.fixture(scope="module")
def ines(demo: Stage) -> Colleague:
    """Return the operator, who proposes through the API."""
    return Colleague(demo, "ines")
