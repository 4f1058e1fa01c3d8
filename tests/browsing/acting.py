"""What people do beside the browser that a test looks at, and how to see what came of it."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Locator, Page, expect

from .stage import Stage

API = "/api/v1"
# Longer than a push takes on a busy machine, shorter than the five seconds between two polls.
AT_ONCE = 4_500
PATIENCE = 60
MOST_ROWS = 60


class Colleague:
    """Somebody at work through the API, in a session of their own."""

    def __init__(self, stage: Stage, who: str) -> None:
        self.client = stage.product.sign_in(stage.product.link(who))
        self.client.timeout = PATIENCE

    def post(self, path: str, body: Any, **headers: str) -> Any:
        """Send something new."""
        return self.send("POST", path, body, **headers)

    def send(self, method: str, path: str, body: Any, **headers: str) -> Any:
        """Send something and return what was answered; a refusal fails the test."""
        token = {"X-CSRFToken": self.client.cookies["csrftoken"]}
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = self.client.request(
            method,
            f"{API}{path}",
            content=json.dumps(body),
            headers={"Content-Type": kind, **token, **headers},
        )
        assert answer.is_success, answer.text
        return answer.json()

    def propose(self, resource: str, operation: str, why: str, **parameters: Any) -> int:
        """Propose something and return its number."""
        actions = [{"operation": operation, "parameters": parameters}]
        filed = self.post("/proposals", {"resource": resource, "actions": actions, "why": why})
        number: int = filed["id"]
        return number

    def throttle(self, agent: str, factor: float = 0.5) -> int:
        """Propose something of low risk that can be undone."""
        return self.propose(f"agent/{agent}", "throttle", f"Save tokens: {factor}.", factor=factor)

    def archive(self, decision: str) -> int:
        """Propose something of medium risk that can be undone."""
        return self.propose(f"decision/{decision}", "archive", "Nobody asks for it any more.")

    def revise(self, number: int, factor: float) -> None:
        """Put another plan in the place of one that was sent back."""
        actions = [{"operation": "throttle", "parameters": {"factor": factor}}]
        body = {"actions": actions, "why": f"Save less: {factor}."}
        self.send("PUT", f"/proposals/{number}", body)

    def read(self, number: int) -> Any:
        """Return a proposal as it stands."""
        answer = self.client.get(f"{API}/proposals/{number}")
        assert answer.is_success, answer.text
        return answer.json()

    def wait_until_all_ran(self) -> None:
        """Wait until nothing is approved that has not been carried out."""
        ends = time.monotonic() + PATIENCE
        while self.client.get(f"{API}/proposals?state=approved").json()["items"]:
            assert time.monotonic() < ends, "Something approved does not run."
            time.sleep(0.2)

    def answer(self, number: int, word: str, reason: str, **more: Any) -> Any:
        """Answer a proposal as it stands."""
        tag = self.read(number)["tag"]
        said = {"reason": reason, **more}
        return self.post(f"/proposals/{number}/{word}", said, **{"If-Match": f'"{tag}"'})

    def report(self, agent: str, **status: Any) -> None:
        """Report parts of an agent's status."""
        self.send("PATCH", f"/resources/agent/{agent}/status", status)

    def pause(self, resource: str, reason: str) -> None:
        """Keep controllers away from a resource for an hour."""
        ends = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        wanted = {"kind": "pause", "scope": "resource", "resource": resource, "endsAt": ends}
        self.post("/holds", {**wanted, "reason": reason})


def walk_down_to(page: Page, number: int) -> None:
    """Go down the queue by keyboard until a row is reached."""
    row = page.locator(f"#p-{number}")
    expect(row).to_be_attached()
    for _ in range(MOST_ROWS):
        if row.get_attribute("aria-current") == "true":
            break
        page.keyboard.press("j")


def walk_to(page: Page, number: int) -> Locator:
    """Go down the queue by keyboard until a proposal is beside it; return the pane."""
    walk_down_to(page, number)
    pane = page.locator(f'#pane[data-at="{number}"]')
    expect(pane).to_be_visible()
    return pane


def mark(page: Page) -> None:
    """Leave a mark that a new page would not have."""
    page.evaluate("window.mark = 'here'")


def expect_same_page(page: Page) -> None:
    """Fail when the page was loaded again since it was marked."""
    assert page.evaluate("window.mark") == "here"


def expect_live(page: Page) -> None:
    """Wait until a page hears what happens."""
    expect(page.locator("#live")).to_have_attribute("data-state", "on", timeout=PATIENCE * 1_000)


def focused(page: Page) -> Locator:
    """Return what the keyboard is at."""
    return page.locator(":focus")


def toast(page: Page, words: str | re.Pattern[str]) -> Locator:
    """Wait for a sentence at the edge of the page, and return it."""
    said = page.locator("#toasts .toast")
    expect(said).to_contain_text(words)
    return said
