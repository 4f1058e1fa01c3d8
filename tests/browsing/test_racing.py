"""Two managers, two browsers, one proposal: who was faster, and what of the other's words."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .acting import Colleague
from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full]


@pytest.fixture(scope="module")
def tomas(demo: Stage) -> Colleague:
    """Return the second manager, who answers through the API."""
    return Colleague(demo, "tomas")


def at_the_rejection(stage: Stage, address: str, reason: str) -> Page:
    """Return Maya's browser with a rejection typed and not sent."""
    page = stage.open("maya", address)
    page.locator("#decision").get_by_role("link", name="Reject").click()
    expect(page.get_by_role("heading", name="Why?")).to_be_visible()
    page.get_by_label("Reason").fill(reason)
    return page


def test_the_second_of_two_managers_is_told_who_was_faster(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("insight-writer")
    slow = at_the_rejection(stage, f"/approvals/{number}", "It writes the board report")
    fast = stage.open("tomas", f"/approvals/{number}")
    fast.get_by_label("Reason (optional)").fill("Tokens are short")
    fast.get_by_role("button", name="Approve and run").click()
    expect(fast.locator("#notices")).to_contain_text("Approved.")

    slow.get_by_role("button", name="Reject").click()

    alert = slow.locator("#decision").get_by_role("alert")
    expect(alert).to_contain_text(re.compile(r"Tomás Silva approved this \d+ (s|min) ago"))
    expect(alert).to_contain_text("“Tokens are short”")
    expect(alert).to_contain_text("Your rejection was not recorded.")
    expect(slow.locator("#decision")).to_contain_text("It writes the board report")
    assert ines.read(number)["state"] == "approved"


def test_beside_the_queue_the_second_is_told_too(
    stage: Stage, ines: Colleague, tomas: Colleague
) -> None:
    number = ines.throttle("ledger-reconciler")
    page = at_the_rejection(stage, f"/approvals?at={number}", "The month is closing")
    tomas.answer(number, "reject", "Ask again in March")

    page.locator("#decision").get_by_role("button", name="Reject").click()

    alert = page.locator("#decision").get_by_role("alert")
    expect(alert).to_contain_text("Tomás Silva rejected this")
    expect(alert).to_contain_text("“Ask again in March”")
    expect(page.locator("#decision")).to_contain_text("The month is closing")
    expect(alert.get_by_role("link", name="Next proposal")).to_be_visible()


def test_who_approves_a_plan_that_changed_reads_the_change_first(
    stage: Stage, ines: Colleague, tomas: Colleague
) -> None:
    number = ines.throttle("spend-auditor")
    page = stage.open("maya", f"/approvals/{number}")
    page.get_by_label("Reason (optional)").fill("Half is right")
    edits = [{"sequence": 1, "parameters": {"factor": 0.25}}]
    tomas.answer(number, "change", "Half is too much", actions=edits)

    page.get_by_role("button", name="Approve and run").click()

    alert = page.locator("#decision").get_by_role("alert")
    expect(alert).to_contain_text("The plan changed while you were reading.")
    expect(alert).to_contain_text("factor is now 0.25, was ")
    expect(page.get_by_label("Reason (optional)")).to_have_value("Half is right")
    assert ines.read(number)["state"] == "pending"

    page.get_by_role("button", name="Approve and run").click()
    expect(page.locator("#notices")).to_contain_text(f"P-{number}: Approved.")
    assert ines.read(number)["state"] == "approved"


def test_a_plan_sent_back_returns_as_a_new_one(
    stage: Stage, ines: Colleague, tomas: Colleague
) -> None:
    number = ines.throttle("capacity-planner")
    page = at_the_rejection(stage, f"/approvals/{number}", "It plans the move")
    tomas.answer(number, "request-changes", "Less, please")
    ines.revise(number, 0.75)

    page.get_by_role("button", name="Reject").click()

    alert = page.locator("#decision").get_by_role("alert")
    expect(alert).to_contain_text("The plan changed while you were reading.")
    expect(page.get_by_label("Reason")).to_have_value("It plans the move")
    assert ines.read(number)["state"] == "pending"
