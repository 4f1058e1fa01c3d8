"""A running product and the browsers of several people; nothing may go wrong unseen."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, StorageState

from tests.journeys import prepared
from tests.journeys.product import Product

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# No answer about what is right, and no style sheet is fetched a second time.
QUICK = {"resultTypes": ["violations"], "preload": False}
LOOK = """options => axe.run(options).then(found => found.violations.flatMap(
    ({id, help, nodes}) => nodes.map(({target}) => ({id, help, target}))))"""
SIZES = {"wide": (1440, 1000), "tablet": (768, 1000), "phone": (390, 844)}
# What a browser says of an answer we meant: somebody was faster, or something was missing.
ANSWERED = re.compile(r"status of (400|403|404|409|410|413|423|503)")


class Stage:
    """One product, and everybody's browser."""

    def __init__(self, product: Product, browser: Browser) -> None:
        self.product, self.browser = product, browser
        self.contexts: list[BrowserContext] = []
        self.errors: list[str] = []
        self.sessions: dict[str, StorageState] = {}

    def open(
        self,
        who: str = "maya",
        path: str = "/",
        *,
        size: str = "wide",
        dark: bool = False,
        scripts: bool = True,
        **options: Any,
    ) -> Page:
        """Open somebody's own browser, signed in: by a link, or as the one they had before."""
        width, height = SIZES[size]
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            base_url=self.product.base,
            storage_state=self.sessions.get(who),
            **options,
        )
        self.contexts.append(context)
        page = context.new_page()
        self.watch(page)
        page.goto(path)
        if "/sign-in/" in page.url:
            self.sign_in(page, who)
            page.goto(path)
        return page

    def sign_in(self, page: Page, who: str) -> None:
        """Sign somebody in with a fresh link."""
        page.goto(self.product.link(who))
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda address: "/sign-in/" not in address)
        kept = page.context.storage_state()
        self.sessions[who] = {"cookies": kept["cookies"], "origins": []}

    def watch(self, page: Page) -> None:
        """Note everything that goes wrong in a page, breaches of the policy included."""

        def note(message: ConsoleMessage) -> None:
            if message.type == "error" and not ANSWERED.search(message.text):
                self.errors.append(f"{page.url}: {message.text}")

        page.on("console", note)
        page.on("pageerror", lambda error: self.errors.append(f"{page.url}: {error}"))

    def close(self) -> None:
        """Close every browser."""
        for context in self.contexts:
            context.close()
        self.contexts.clear()


def violations(page: Page, **options: Any) -> list[str]:
    """Return what axe-core finds wrong with a page as it is shown."""
    usual = {"runOnly": {"type": "tag", "values": RULES}}
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate(LOOK, usual | QUICK | options)
    return [f"{each['id']}: {each['help']} ({each['target']})" for each in found]


def overflow(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    width: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width


@contextmanager
def servers(*, bare: bool = False) -> Iterator[Mapping[str, str]]:
    """Yield the servers of this pass: none for SQLite, or a database of our own and Redis."""
    given = os.environ.get("DATABASE_URL", "")
    if not given.startswith("postgres"):
        yield {}
        return
    with prepared.database(given, f"stage_{uuid.uuid4().hex[:12]}", bare=bare) as url:
        yield {"DATABASE_URL": url, "REDIS_URL": os.environ["REDIS_URL"]}


@contextmanager
def staged(folder: Path, browser: Browser, *options: str) -> Iterator[Stage]:
    """Start a product on the servers of this pass."""
    with servers() as given, Product(folder / "data", *options, given=given) as product:
        stage = Stage(product, browser)
        try:
            yield stage
        finally:
            stage.close()


def fail_on_errors(stage: Stage) -> None:
    """Fail when any page met an error since this was last asked."""
    found, stage.errors = stage.errors, []
    if found:
        pytest.fail("\n".join(found))
