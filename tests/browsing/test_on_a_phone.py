"""A decision on the way: a narrow screen and a thumb."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from .acting import Colleague
from .stage import Stage, overflow

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full, pytest.mark.sqlite]

THUMB = 44


@pytest.fixture
def phone(stage: Stage) -> Page:
    """Return Maya's phone."""
    return stage.open("maya", "/", size="phone", has_touch=True, is_mobile=True)


def fits(target: Locator) -> bool:
    """Tell whether a thumb hits something."""
    box = target.bounding_box()
    return box is not None and box["width"] >= THUMB and box["height"] >= THUMB


def test_a_proposal_is_approved_from_the_dock(phone: Page, ines: Colleague) -> None:
    number = ines.throttle("insight-writer")
    assert overflow(phone) <= 0
    phone.get_by_role("navigation", name="Main").get_by_role("link", name="Approvals").tap()
    phone.wait_for_url(re.compile("/approvals"))
    assert overflow(phone) <= 0

    phone.goto(f"/approvals/{number}")
    assert overflow(phone) <= 0
    dock = phone.locator("#dock")
    expect(dock).to_be_in_viewport()
    for target in dock.locator("a, button").all():
        assert fits(target), target.inner_text()
    dock.get_by_role("button", name="Approve").tap()

    expect(phone.locator("#notices")).to_contain_text(f"P-{number}: Approved.")
    assert ines.read(number)["state"] == "approved"
    assert overflow(phone) <= 0


def test_a_proposal_is_read_and_decided_from_the_list(phone: Page, ines: Colleague) -> None:
    number = ines.throttle("roadmap-adviser")
    phone.goto("/approvals")
    expect(phone.locator("#pane")).to_be_hidden()

    phone.locator(f"#p-{number} .ttl a").tap()
    expect(phone.get_by_role("heading", name=re.compile("roadmap-adviser"))).to_be_visible()
    assert overflow(phone) <= 0
    approve = phone.locator("#decision").get_by_role("button", name="Approve")
    assert fits(approve)
    approve.tap()

    expect(phone.get_by_role("status").filter(has_text=f"P-{number}: Approved.")).to_be_visible()
    assert ines.read(number)["state"] == "approved"
    assert overflow(phone) <= 0


def test_a_rejection_is_written_with_a_thumb(phone: Page, ines: Colleague) -> None:
    number = ines.throttle("ledger-reconciler")
    phone.goto(f"/approvals/{number}")

    phone.locator("#dock").get_by_role("link", name="Reject").tap()
    expect(phone.get_by_role("heading", name=f"Reject P-{number}. Why?")).to_be_visible()
    assert overflow(phone) <= 0
    phone.get_by_label("Reason").fill("The month is closing")
    button = phone.locator("#decision").get_by_role("button", name="Reject")
    assert fits(button)
    button.tap()

    expect(phone.locator("#notices")).to_contain_text("Rejected. Nothing runs.")
    assert ines.read(number)["state"] == "rejected"


@pytest.mark.parametrize("name", ["Overview", "Approvals", "Resources", "Controllers", "More"])
def test_every_tab_leads_to_a_page_that_fits(phone: Page, name: str) -> None:
    tab = phone.get_by_role("navigation", name="Main").get_by_role("link", name=name)
    assert fits(tab)
    tab.tap()

    current = phone.get_by_role("navigation", name="Main").locator('[aria-current="page"]')
    expect(current).to_contain_text(name)
    expect(current).to_be_in_viewport()
    assert overflow(phone) <= 0


def test_everything_is_paused_on_the_way(phone: Page) -> None:
    phone.locator("#power a").tap()
    dialog = phone.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert overflow(phone) <= 0
    dialog.get_by_label("Why?").fill("We move the database")
    assert fits(dialog.get_by_role("button", name="Pause all"))
    dialog.get_by_role("button", name="Pause all").tap()
    expect(phone.locator("#power")).to_contain_text("paused")

    phone.locator("#power a").tap()
    dialog.get_by_label("Why?").fill("It has moved")
    dialog.get_by_role("button", name="Resume").tap()
    expect(phone.locator("#power")).to_contain_text("Pause all")
