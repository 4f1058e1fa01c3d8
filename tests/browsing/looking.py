"""Look at a page in every size and theme, and say what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal

from playwright.sync_api import Page

from .acting import Colleague
from .stage import SIZES, overflow, violations

Theme = Literal["light", "dark"]
Looks = tuple[tuple[str, Theme], ...]
THEMES: tuple[Theme, ...] = ("light", "dark")
LOOKS: Looks = tuple((size, theme) for size in SIZES for theme in THEMES)
# A theme gives the same elements other colours, and nothing else.
ABOUT_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}


def faults(page: Page, looks: Looks = LOOKS) -> list[str]:
    """Return what is wrong with a page as it stands, light and dark, in every size."""
    found = []
    for size, theme in looks:
        width, height = SIZES[size]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        seen = violations(page, **({"runOnly": ABOUT_COLOURS} if theme == "dark" else {}))
        if overflow(page) > 0:
            seen.append(f"{overflow(page)} pixels too wide")
        found += [f"{page.url}, {size}, {theme}: {each}" for each in seen]
    return found


def faults_of(page: Page, addresses: Iterable[str], looks: Looks = LOOKS) -> list[str]:
    """Return what is wrong with several pages."""
    found = []
    for address in addresses:
        page.goto(address)
        found += faults(page, looks)
    return found


def send(colleague: Colleague, address: str, **typed: str) -> None:
    """Send a form as a browser without scripts does."""
    token = {"csrfmiddlewaretoken": colleague.client.cookies["csrftoken"]}
    answer = colleague.client.post(address, data=typed | token)
    assert answer.is_success, answer.text


def managed(admin: Colleague) -> str:
    """Issue tokens and enter a machine; return where one of the tokens is revoked."""
    for agent, days in (("growth-optimizer", "30"), ("reply-drafter", "5")):
        wish = {"agent": agent, "scopes": "status:write", "days": days}
        send(admin, "/manage/tokens/new", **wish)
    url = "https://rig.example.com/hook"
    send(admin, "/manage/machines/new", name="rig", url=url, operations="restart", domain="")
    found = re.search(r"/manage/tokens/\w{8}/revoke", admin.client.get("/manage/tokens").text)
    assert found
    return found[0]


def hold(colleague: Colleague) -> int:
    """Keep a value of an agent for four days, and return the number of that hold."""
    about = {"kind": "override", "scope": "field", "resource": "agent/campaign-writer"}
    value = {"path": "spec.tokenBudget.maxDaily", "value": 180_000}
    ends = (datetime.now(UTC) + timedelta(days=4)).isoformat()
    wanted = {**about, **value, "endsAt": ends, "reason": "Quarterly review week."}
    number: int = colleague.post("/holds", wanted)["hold"]["id"]
    return number
