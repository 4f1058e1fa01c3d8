"""What stands around every page."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from controllers.web.base import shell

pytestmark = pytest.mark.sqlite


def test_the_navigation_says_how_much_waits_for_whom(maya: Client, vera: Client) -> None:
    assert b"7<span" in maya.get("/more").content
    assert b"nav-approvals" not in vera.get("/more").content


def test_parts_are_answered_alone(maya: Client) -> None:
    answer = maya.get("/more", headers={"Live-Parts": "power,domains,nothing"})

    assert answer.content.count(b"<nav") == 1
    assert b'id="power"' in answer.content
    assert b"<html" not in answer.content
    assert "Live-Parts" in answer.headers["Vary"]


def test_many_resources_are_not_counted_on_every_page(
    maya: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"+</span>" not in maya.get("/more").content

    monkeypatch.setattr(shell, "MOST_RESOURCES", 5)

    page = maya.get("/more").content.decode()
    assert re.search(r'<span>Resources</span>\s*<span class="end">5\+</span>', page)
    welcome = " ".join(maya.get("/welcome").content.decode().split())
    assert "Over 5 resources are declared." in welcome
