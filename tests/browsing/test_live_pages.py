"""What happens elsewhere is seen at once, and nobody's keyboard or words are touched."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .acting import (
    AT_ONCE,
    Colleague,
    expect_live,
    expect_same_page,
    focused,
    mark,
    walk_to,
)
from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full]


@pytest.fixture(scope="module")
def tomas(demo: Stage) -> Colleague:
    """Return the second manager, who answers through the API."""
    return Colleague(demo, "tomas")


def test_the_overview_shows_what_is_proposed_and_decided(
    stage: Stage, ines: Colleague, tomas: Colleague
) -> None:
    page = stage.open("maya", "/")
    expect_live(page)
    mark(page)
    feed = page.get_by_role("region", name="Activity")

    number = ines.throttle("insight-writer")
    expect(feed).to_contain_text(f"P-{number}", timeout=AT_ONCE)
    tomas.answer(number, "reject", "Not in this month")
    expect(feed).to_contain_text(f"rejected P-{number}", timeout=AT_ONCE)

    expect_same_page(page)


def test_a_proposal_arrives_while_somebody_types(stage: Stage, ines: Colleague) -> None:
    read = ines.throttle("roadmap-adviser")
    page = stage.open("maya", f"/approvals?at={read}")
    expect_live(page)
    mark(page)
    page.locator("#decision").get_by_label("Reason (optional)").fill("I think")

    number = ines.throttle("ledger-reconciler")
    expect(page.locator(f"#p-{number}")).to_be_visible(timeout=AT_ONCE)

    expect(focused(page)).to_have_value("I think")
    page.keyboard.type(" so")
    expect(focused(page)).to_have_value("I think so")
    expect_same_page(page)


def test_what_is_selected_stays_selected(stage: Stage, ines: Colleague, tomas: Colleague) -> None:
    kept, gone = ines.throttle("spend-auditor"), ines.throttle("access-steward")
    page = stage.open("maya", "/approvals")
    expect_live(page)
    mark(page)
    walk_to(page, kept)
    page.keyboard.press("x")

    tomas.answer(gone, "reject", "No")
    expect(page.locator(f"#g-mine + ul #p-{gone}")).to_have_count(0, timeout=AT_ONCE)

    expect(page.locator(f"#p-{kept} .check")).to_be_checked()
    expect(page.get_by_role("form", name="Bulk actions")).to_contain_text("1 selected")
    expect(page.locator(f"#p-{kept}")).to_have_attribute("aria-current", "true")
    expect_same_page(page)


def test_a_reader_sees_that_somebody_else_decided(
    stage: Stage, ines: Colleague, tomas: Colleague
) -> None:
    number = ines.throttle("capacity-planner")
    page = stage.open("maya", f"/approvals/{number}")
    expect_live(page)
    mark(page)

    tomas.answer(number, "reject", "It plans the move")

    expect(page.locator("#news")).to_contain_text("Tomás Silva rejected this", timeout=AT_ONCE)
    expect(page.locator("#story")).to_contain_text("It plans the move", timeout=AT_ONCE)
    expect(page.get_by_role("button", name="Approve and run")).to_have_count(0)
    expect_same_page(page)


def test_a_resource_shows_a_hold_and_a_report(stage: Stage, ines: Colleague) -> None:
    page = stage.open("vera", "/resources/agent/offer-designer")
    expect_live(page)
    mark(page)

    ines.pause("agent/offer-designer", "We change its prices")
    expect(page.locator("#holds")).to_contain_text("We change its prices", timeout=AT_ONCE)
    ines.report("offer-designer", errorRate=0.0777)
    expect(page.locator("#main")).to_contain_text("7.8%", timeout=AT_ONCE)

    expect_same_page(page)


def test_a_page_outlives_the_server(stage: Stage, ines: Colleague) -> None:
    page = stage.open("maya", "/approvals")
    expect_live(page)
    mark(page)
    indicator = page.locator("#live")

    stage.product.stop()
    expect(indicator).to_have_text("Reconnecting")
    stage.product.start()
    number = ines.throttle("deploy-warden")

    expect_live(page)
    expect(indicator).to_have_text("Live")
    expect(page.locator(f"#p-{number}")).to_be_visible()
    expect_same_page(page)
    lost = [each for each in stage.errors if "ERR_CONNECTION_REFUSED" in each]
    stage.errors = [each for each in stage.errors if each not in lost]
