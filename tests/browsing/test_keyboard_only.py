"""From the sign-in to a decision without a mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .acting import Colleague, focused, walk_to
from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full, pytest.mark.sqlite]

MOST_STEPS = 60


def tab_to(page: Page, name: str | re.Pattern[str]) -> None:
    """Press Tab until the keyboard is at a link or a button with a name."""
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        at = focused(page)
        if at.and_(
            page.get_by_role("link", name=name).or_(page.get_by_role("button", name=name))
        ).count():
            return
    pytest.fail(f"Tab never reached {name}.")


def outline(page: Page) -> float:
    """Return how wide the ring around what the keyboard is at is drawn."""
    style = "getComputedStyle(document.activeElement)"
    drawn = f"{style}.outlineStyle === 'none' ? 0 : parseFloat({style}.outlineWidth)"
    width: float = page.evaluate(drawn)
    return width


def test_somebody_signs_in_and_approves_without_a_mouse(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("insight-writer")
    page = stage.browser.new_context(base_url=stage.product.base).new_page()
    stage.contexts.append(page.context)
    stage.watch(page)
    page.goto(stage.product.link("maya"))
    tab_to(page, "Sign in")
    page.keyboard.press("Enter")
    page.wait_for_url(stage.product.base + "/")

    tab_to(page, re.compile("^Approvals"))
    assert outline(page) >= 2
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/approvals"))
    walk_to(page, number)
    expect(page.locator(f"#p-{number} .ttl a")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"/approvals/{number}$"))
    tab_to(page, "Approve and run")
    assert outline(page) >= 2
    page.keyboard.press("Enter")

    expect(page.locator("#notices")).to_contain_text(f"P-{number}: Approved.")
    assert ines.read(number)["state"] == "approved"


def test_the_first_tab_skips_to_the_content(stage: Stage) -> None:
    page = stage.open("maya", "/resources")

    page.keyboard.press("Tab")
    expect(focused(page)).to_have_text("Skip to content")
    expect(focused(page)).to_be_in_viewport()
    page.keyboard.press("Enter")

    expect(page.locator("#main")).to_be_focused()


def test_a_dialog_keeps_the_keyboard_and_gives_it_back(stage: Stage) -> None:
    page = stage.open("maya", "/")
    tab_to(page, "Pause all")

    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Pause everything?")
    expect(dialog.get_by_label("Why?")).to_be_focused()
    for _ in range(MOST_STEPS // 3):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('dialog, body').tagName") in (
            "DIALOG",
            "BODY",
        )
        assert not page.evaluate("Boolean(document.activeElement.closest('.app'))")
    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    expect(page.locator("#power a")).to_be_focused()


def test_a_key_shows_what_the_keys_do(stage: Stage) -> None:
    page = stage.open("maya", "/controllers")

    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Approve")
    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)


def test_search_opens_what_was_typed(stage: Stage) -> None:
    page = stage.open("maya", "/")

    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("agent/insight-writer")
    expect(page.get_by_role("option").first).to_contain_text("insight-writer")
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile("/resources/agent/insight-writer"))


@pytest.mark.parametrize(
    ("key", "address"),
    [("o", "/"), ("r", "/resources"), ("c", "/controllers"), ("v", "/overrides"), ("l", "/audit")],
)
def test_two_keys_lead_to_each_section(stage: Stage, key: str, address: str) -> None:
    page = stage.open("maya", "/inbox")

    page.keyboard.press("g")
    page.keyboard.press(key)

    page.wait_for_url(f"{stage.product.base}{address}")


def test_keys_that_are_switched_off_do_nothing(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("ledger-reconciler")
    page = stage.open("tomas", "/profile")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("Saved.")
    page.goto(f"/approvals/{number}")

    for key in ("a", "r", "g", "o", "?", "Shift+P", "j"):
        page.keyboard.press(key)

    page.wait_for_timeout(500)
    assert page.url.endswith(f"/approvals/{number}")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", name="Why?")).to_have_count(0)
    assert ines.read(number)["state"] == "pending"
