"""Without scripts every page is a page and every answer is a form."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .acting import Colleague
from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full, pytest.mark.sqlite]


@pytest.fixture
def plain(stage: Stage) -> Page:
    """Return Maya's browser, which runs no script."""
    return stage.open("maya", "/", scripts=False)


def test_the_overview_is_there(plain: Page) -> None:
    expect(plain.get_by_role("heading", level=1)).to_be_visible()
    expect(plain.get_by_role("heading", name="Needs you now")).to_be_visible()
    expect(plain.locator("button[data-act]:visible")).to_have_count(0)


def test_something_is_approved_on_its_page(plain: Page, ines: Colleague) -> None:
    number = ines.throttle("insight-writer")
    plain.goto(f"/approvals/{number}")

    plain.get_by_role("button", name="Approve and run").click()

    expect(plain.locator("#notices")).to_contain_text(f"P-{number}: Approved.")
    assert ines.read(number)["state"] == "approved"


def test_an_approval_is_taken_back(plain: Page, ines: Colleague) -> None:
    number = ines.throttle("roadmap-adviser")
    plain.goto(f"/approvals/{number}")
    plain.get_by_role("button", name="Approve and run").click()

    plain.locator("#notices").get_by_role("link", name="Undo").click()
    plain.get_by_role("button", name="Take it back").click()

    expect(plain.locator("#notices")).to_contain_text(f"P-{number}: Taken back. Nothing runs.")
    assert ines.read(number)["state"] == "withdrawn"


def test_a_rejection_without_a_reason_keeps_the_form(plain: Page, ines: Colleague) -> None:
    number = ines.throttle("ledger-reconciler")
    plain.goto(f"/approvals?at={number}")
    plain.locator("#decision").get_by_role("link", name="Reject").click()
    expect(plain.get_by_role("heading", name=f"Reject P-{number}. Why?")).to_be_visible()

    # Words that are only spaces pass the browser; the server asks for more.
    plain.get_by_label("Reason").fill("   ")
    plain.get_by_role("button", name="Reject").click()
    expect(plain.get_by_label("Reason")).to_have_attribute("aria-invalid", "true")
    expect(plain.get_by_text("Say why")).to_be_visible()
    assert ines.read(number)["state"] == "pending"

    plain.get_by_label("Reason").fill("The month is closing")
    plain.get_by_role("button", name="Reject").click()
    expect(plain.locator("#notices")).to_contain_text(f"P-{number}: Rejected. Nothing runs.")
    assert ines.read(number)["reason"] == "The month is closing"


def test_an_override_with_a_wrong_value_keeps_what_was_typed(plain: Page, ines: Colleague) -> None:
    number = ines.throttle("capacity-planner")
    plain.goto(f"/approvals/{number}")
    plain.get_by_role("link", name="Do something else instead").click()

    plain.get_by_label("At", exact=True).fill("plenty")
    plain.get_by_label("Reason").fill("It plans the move")
    plain.get_by_role("button", name="Override").click()
    expect(plain.get_by_text("That is no number.")).to_be_visible()
    expect(plain.get_by_label("At", exact=True)).to_have_value("plenty")
    expect(plain.get_by_label("Reason")).to_have_value("It plans the move")

    plain.get_by_label("At", exact=True).fill("90,000")
    plain.get_by_role("button", name="Override").click()
    expect(plain.locator("#notices")).to_contain_text("Overridden.")
    assert ines.read(number)["state"] == "overridden"


def test_a_hold_is_lifted(plain: Page, ines: Colleague) -> None:
    ines.pause("agent/deploy-warden", "We release by hand")
    plain.goto("/resources/agent/deploy-warden")

    plain.get_by_role("link", name="Lift now").click()
    plain.get_by_label("Why?").fill("The release is out")
    plain.get_by_role("button", name="Lift").click()

    expect(plain.locator("#notices")).not_to_be_empty()
    plain.goto("/resources/agent/deploy-warden")
    expect(plain.locator("#holds")).not_to_contain_text("We release by hand")


def test_several_are_rejected_together(plain: Page, ines: Colleague) -> None:
    numbers = [ines.throttle(name, 0.7) for name in ("churn-watcher", "reply-drafter")]
    plain.goto("/approvals")
    for number in numbers:
        plain.locator(f"#p-{number} .check").check()

    plain.get_by_role("form", name="Bulk actions").get_by_role("button", name="Reject").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("Reject 2 proposals")
    plain.get_by_label("Reason").fill("They are needed today")
    plain.get_by_role("button", name="Reject 2").click()

    expect(plain.locator("#notices")).to_contain_text("2 rejected.")
    assert [ines.read(each)["state"] for each in numbers] == ["rejected", "rejected"]


def test_everything_is_paused_and_resumed(plain: Page) -> None:
    plain.locator("#power").get_by_role("link", name="Pause all").click()
    plain.get_by_label("Why?").fill("   ")
    plain.get_by_role("button", name="Pause all").click()
    expect(plain.get_by_role("alert")).to_be_visible()
    plain.get_by_label("Why?").fill("We move the database")
    plain.get_by_role("button", name="Pause all").click()
    expect(plain.locator("#power")).to_contain_text("Everything paused")

    plain.locator("#power").get_by_role("link", name="Resume").click()
    expect(plain.locator("#main")).to_contain_text("We move the database")
    plain.get_by_label("Why?").fill("It has moved")
    plain.get_by_role("button", name="Resume").click()
    expect(plain.locator("#power")).to_contain_text("running")


def test_search_and_filters_are_plain_pages(plain: Page) -> None:
    plain.get_by_role("link", name="Search or jump to").click()
    plain.get_by_role("searchbox").fill("agent/insight-writer")
    plain.get_by_role("button", name="Search").click()
    plain.locator("#found").get_by_role("link", name="insight-writer").first.click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("insight-writer")

    plain.goto("/approvals")
    plain.get_by_role("group", name="Filters").get_by_role("link", name="Mine").click()
    expect(plain.locator('#filters [aria-current="true"]', has_text="Mine")).to_be_visible()
    plain.goto("/approvals?q=no-such-thing")
    expect(plain.get_by_role("heading", name="Nothing matches")).to_be_visible()


def test_a_profile_is_kept(plain: Page) -> None:
    plain.goto("/profile")
    plain.get_by_role("radio", name="Dark").check()
    plain.get_by_role("button", name="Save").click()

    expect(plain.locator("#notices")).to_contain_text("Saved.")
    expect(plain.locator("html")).to_have_attribute("data-theme", "dark")
    expect(plain.get_by_role("radio", name="Dark")).to_be_checked()
