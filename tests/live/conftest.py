"""A small organisation on a database that processes share, a server, and open pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from controllers.access import people
from controllers.web.base.page import Page
from tests.api.conftest import ALICE, agent, apply, domain
from tests.api.serving import Server, serve
from tests.live.tabs import Tab, opened
from tests.resources.conftest import real_database

__all__ = ["real_database"]

Open = Callable[..., Tab]


@pytest.fixture
def growth(real_database: None) -> None:
    """Two domains, and an agent in one of them."""
    apply(domain("growth"), domain("finance"), agent("robin", "growth"))


@pytest.fixture
def server(growth: None, tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path) as running:
        yield running


@pytest.fixture
def maya(real_database: None) -> Client:
    """Return the browser of somebody who is signed in."""
    client = Client()
    client.force_login(
        people.add_person(
            "maya", name="Maya Chen", role="Approvers", actor=ALICE, now=timezone.now()
        )
    )
    return client


@pytest.fixture
def session(maya: Client) -> str:
    return maya.cookies["sessionid"].value


@pytest.fixture
def look(server: Server, session: str) -> Iterator[Open]:
    """Open pages as somebody who is signed in; all are closed at the end."""
    tabs: list[Tab] = []

    def open_one(page: str = "/shortcuts", **given: Any) -> Tab:
        tabs.append(opened(server.url, session, page, **given))
        return tabs[-1]

    yield open_one
    for tab in tabs:
        tab.close()


@pytest.fixture
def renders(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often each part is rendered."""
    counted: Counter[str] = Counter()
    original = Page.render_part

    def counting(self: Page, name: str) -> str:
        counted[name] += 1
        return original(self, name)

    monkeypatch.setattr(Page, "render_part", counting)
    return counted
