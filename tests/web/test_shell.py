"""What stands around every page."""

from __future__ import annotations

from django.test import Client


def test_the_navigation_says_how_much_waits_for_whom(maya: Client, vera: Client) -> None:
    assert b"7<span" in maya.get("/more").content
    assert b"nav-approvals" not in vera.get("/more").content


def test_parts_are_answered_alone(maya: Client) -> None:
    answer = maya.get("/more", headers={"Live-Parts": "power,domains,nothing"})

    assert answer.content.count(b"<nav") == 1
    assert b'id="power"' in answer.content
    assert b"<html" not in answer.content
    assert "Live-Parts" in answer.headers["Vary"]
