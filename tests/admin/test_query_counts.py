"""No page takes more statements when the organisation grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.admin.counts import expected, statements
from tests.admin.pages import of, url
from tests.conftest import Clock
from tests.resources.making import apply, made, report

pytestmark = pytest.mark.django_db

ADMIN: dict[str, Callable[[], str]] = {
    "list": lambda: url("agent", "changelist"),
    "edit": lambda: of("Agent", "robin"),
    "history": lambda: of("Agent", "robin", "history"),
    "delete": lambda: of("Domain", "harbour", "delete"),
    "ledger": lambda: reverse("admin:resources_ledgerevent_changelist"),
    "revisions": lambda: reverse("admin:resources_resourcerevision_changelist"),
    "tokens": lambda: reverse("admin:resources_agenttoken_changelist"),
}
PAGES: dict[str, Callable[[], str]] = {
    "agent then": lambda: (
        reverse("resource", args=["agent", "robin"]) + "?at=2026-11-16T10:00:00Z"
    ),
}


def grow(clock: Clock, first: int, last: int) -> None:
    """Add agents with reports, and revisions of robin."""
    names = [f"gull-{number}" for number in range(first, last)]
    apply(clock.now, *(made("Agent", name) for name in names))
    for name in names:
        report(clock.now, name, {"conditions": [{"type": "Ready", "status": "True"}]})
        apply(clock.advance(seconds=1), made("Agent", "robin", {"purpose": name}))


@pytest.mark.parametrize(
    ("section", "name"),
    [("admin", name) for name in ADMIN] + [("pages", name) for name in PAGES],
)
def test_a_page_takes_the_same_statements_whatever_there_is(
    harbour: Any, administrator: Client, clock: Clock, section: str, name: str
) -> None:
    address = (ADMIN if section == "admin" else PAGES)[name]
    grow(clock, 0, 2)
    few = statements(administrator, address())

    grow(clock, 2, 12)
    many = statements(administrator, address())

    assert many == few
    assert many == expected(section, name, many)
