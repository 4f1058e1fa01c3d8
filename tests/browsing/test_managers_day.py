"""A manager's day at the keyboard: reading, answering, stopping, going on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from .acting import Colleague, focused, toast, walk_down_to, walk_to
from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full]


@pytest.fixture
def desk(stage: Stage) -> Page:
    """Return Maya's queue, reached from the overview by two keys."""
    page = stage.open("maya", "/")
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_url(re.compile("/approvals"))
    return page


def reread(page: Page, number: int) -> dict[str, object]:
    """Return a proposal as the API tells it to whoever looks at a page."""
    found: dict[str, object] = page.request.get(f"/api/v1/proposals/{number}").json()
    return found


@pytest.mark.quick
def test_one_key_approves_low_risk_and_another_takes_it_back(
    ines: Colleague, stage: Stage
) -> None:
    number = ines.throttle("insight-writer")
    page = stage.open("maya", "/approvals")
    walk_to(page, number)

    page.keyboard.press("a")
    toast(page, f"P-{number}: Approved. Runs in 8 s.")
    assert reread(page, number)["state"] == "approved"
    expect(page.locator("#queue .row .ttl a:focus")).to_be_visible()

    page.keyboard.press("u")
    toast(page, f"P-{number}: Taken back. Nothing runs.")
    assert reread(page, number)["state"] == "withdrawn"


def test_medium_risk_is_approved_after_a_look_at_the_reason(desk: Page, ines: Colleague) -> None:
    number = ines.archive("dec-110-paper-invoice-intake")
    walk_to(desk, number)

    desk.keyboard.press("a")
    expect(focused(desk)).to_have_value("As proposed")
    assert reread(desk, number)["state"] == "pending"
    desk.keyboard.press("Enter")

    toast(desk, f"P-{number}: Approved.")
    seen = reread(desk, number)
    assert (seen["state"], seen["reason"]) == ("approved", "As proposed")


def test_an_answer_never_goes_to_a_proposal_that_was_left(desk: Page, ines: Colleague) -> None:
    left, next_one = ines.throttle("refund-resolver"), ines.throttle("invoice-matcher")
    desk.goto("/approvals?q=Save+tokens")
    walk_to(desk, left)
    kept: list[Route] = []
    desk.route(f"**/approvals?*at={next_one}", lambda route: kept.append(route))

    walk_down_to(desk, next_one)
    desk.wait_for_timeout(300)
    desk.keyboard.press("a")
    desk.wait_for_timeout(300)
    assert [reread(desk, each)["state"] for each in (left, next_one)] == ["pending", "pending"]

    for each in kept:
        each.continue_()
    desk.unroute_all()
    expect(desk.locator(f'#pane[data-at="{next_one}"]')).to_be_visible()
    desk.keyboard.press("a")
    toast(desk, f"P-{next_one}: Approved.")
    assert reread(desk, left)["state"] == "pending"


def slow_answers(page: Page) -> list[tuple[Route, APIResponse]]:
    """Let answers be recorded at once, and keep what the server says until it is wanted."""
    kept: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            kept.append((route, route.fetch()))
        else:
            route.continue_()

    page.route("**/decide*", hold)
    return kept


def let_through(page: Page, kept: list[tuple[Route, APIResponse]]) -> None:
    """Hand over what the server said, once it has said it."""
    while not kept:
        page.wait_for_timeout(100)
    ((route, said),) = kept
    route.fulfill(response=said)


def test_what_came_of_an_answer_is_told_when_the_page_heard_of_it_before(
    desk: Page, ines: Colleague
) -> None:
    number = ines.throttle("refund-resolver", 0.7)
    walk_to(desk, number)
    kept = slow_answers(desk)

    desk.keyboard.press("a")
    expect(desk.locator("#decision[data-stale]")).to_be_visible()
    let_through(desk, kept)

    toast(desk, f"P-{number}: Approved.")
    expect(desk.locator(f'#pane[data-at="{number}"]')).to_have_count(0)


def test_what_came_of_an_answer_is_told_who_already_went_on(desk: Page, ines: Colleague) -> None:
    two = ines.throttle("invoice-matcher", 0.7), ines.throttle("refund-resolver", 0.8)
    desk.goto("/approvals?q=Save+tokens")
    names = [each.get_attribute("id") for each in desk.locator("#queue .row").all()]
    number, _ = sorted(two, key=lambda each: names.index(f"p-{each}"))
    walk_to(desk, number)
    kept = slow_answers(desk)

    desk.keyboard.press("a")
    with desk.expect_response("**/approvals?*at=*"):
        desk.keyboard.press("j")
    let_through(desk, kept)

    toast(desk, f"P-{number}: Approved.")
    expect(desk.locator(f'#pane[data-at="{number}"]')).to_have_count(0)


def test_a_click_chooses_the_row_that_is_read(desk: Page, ines: Colleague) -> None:
    number = ines.throttle("experiment-runner")

    desk.locator(f"#p-{number} .ttl a").click()
    expect(desk.locator(f'#pane[data-at="{number}"]')).to_be_visible()

    expect(desk.locator('#queue .row[aria-current="true"]')).to_have_id(f"p-{number}")


def test_a_rejection_wants_a_reason(desk: Page, ines: Colleague) -> None:
    number = ines.throttle("ledger-reconciler")
    walk_to(desk, number)

    desk.keyboard.press("r")
    expect(desk.get_by_role("heading", name=f"Reject P-{number}. Why?")).to_be_visible()
    expect(focused(desk)).to_have_attribute("name", "reason")
    desk.keyboard.type("The month is nearly over")
    desk.keyboard.press("Control+Enter")

    toast(desk, f"P-{number}: Rejected. Nothing runs.")
    seen = reread(desk, number)
    assert (seen["state"], seen["reason"]) == ("rejected", "The month is nearly over")


def test_escape_leaves_a_form_and_nothing_was_said(desk: Page, ines: Colleague) -> None:
    number = ines.throttle("roadmap-adviser", 0.6)
    walk_to(desk, number)

    desk.keyboard.press("r")
    expect(focused(desk)).to_have_attribute("name", "reason")
    desk.keyboard.press("Escape")

    expect(desk.get_by_role("heading", name=f"Reject P-{number}. Why?")).to_have_count(0)
    expect(desk.locator("#decision").get_by_role("button", name="Approve")).to_be_visible()
    assert reread(desk, number)["state"] == "pending"


def test_a_changed_plan_is_approved_by_somebody_else(
    desk: Page, ines: Colleague, stage: Stage
) -> None:
    number = ines.throttle("spend-auditor")
    pane = walk_to(desk, number)

    pane.locator("summary", has_text="More answers").click()
    pane.get_by_role("link", name="Change the plan").click()
    desk.get_by_label("Factor").fill("0.8")
    desk.get_by_label("Reason").fill("Half is too little")
    desk.get_by_role("button", name="Change it").click()
    toast(desk, f"P-{number}: Changed. Somebody else has to approve it now.")
    expect(desk.locator("#pane")).to_contain_text("Whoever edited it does not approve it")
    seen = ines.read(number)
    assert (seen["revision"], seen["actions"][0]["parameters"]) == (2, {"factor": 0.8})

    other = stage.open("tomas", f"/approvals/{number}")
    other.keyboard.press("a")
    expect(other.locator("#notices")).to_contain_text(f"P-{number}: Approved.")
    assert ines.read(number)["state"] == "approved"


def test_an_override_holds_a_value_of_the_managers_own(desk: Page, ines: Colleague) -> None:
    number = ines.throttle("capacity-planner")
    walk_to(desk, number)

    desk.keyboard.press("o")
    expect(desk.get_by_role("heading", name=f"Do something else than P-{number}")).to_be_visible()
    desk.get_by_label("At", exact=True).fill("90,000")
    desk.get_by_label("Reason").fill("It plans the move this week")
    desk.keyboard.press("Control+Enter")

    toast(desk, f"P-{number}: Overridden.")
    assert ines.read(number)["state"] == "overridden"
    desk.goto("/resources/agent/capacity-planner")
    expect(desk.locator("#holds")).to_contain_text("Maya Chen holds")
    expect(desk.locator("#holds")).to_contain_text("90,000")


def test_what_is_snoozed_comes_back_later(desk: Page, ines: Colleague) -> None:
    number = ines.throttle("deploy-warden")
    walk_to(desk, number)

    desk.keyboard.press("s")
    expect(desk.get_by_role("heading", name=f"Snooze P-{number}")).to_be_visible()
    desk.get_by_label("For", exact=True).select_option("1h")
    desk.get_by_role("button", name="Snooze").click()

    toast(desk, f"P-{number}: Snoozed. It comes back by itself.")
    expect(desk.locator(f"#g-snoozed + ul #p-{number}")).to_be_visible()
    assert ines.read(number)["quietUntil"]


def test_several_are_selected_and_approved_together(desk: Page, ines: Colleague) -> None:
    numbers = [ines.throttle(name, 0.7) for name in ("churn-watcher", "reply-drafter")]

    for number in numbers:
        walk_to(desk, number)
        desk.keyboard.press("x")
        expect(desk.locator(f"#p-{number} .check")).to_be_checked()
    expect(desk.get_by_role("form", name="Bulk actions")).to_contain_text("2 selected")
    desk.keyboard.press("Shift+A")

    expect(desk.locator("#notices")).to_contain_text("2 approved. They run in 8 s.")
    assert [ines.read(each)["state"] for each in numbers] == ["approved", "approved"]


@pytest.mark.quick
def test_everything_is_paused_and_goes_on_after_a_look(desk: Page, ines: Colleague) -> None:
    ines.wait_until_all_ran()
    number = ines.throttle("access-steward")

    desk.keyboard.press("Shift+P")
    dialog = desk.get_by_role("dialog")
    dialog.get_by_label("Why?").fill("We move the database")
    dialog.get_by_role("button", name="Pause all").click()
    expect(desk.locator("#power")).to_contain_text("Everything paused")

    desk.goto(f"/approvals/{number}")
    desk.keyboard.press("a")
    expect(desk.locator("#notices")).to_contain_text("runs once it is lifted")
    assert ines.read(number)["state"] == "approved"

    desk.keyboard.press("Shift+P")
    expect(dialog).to_contain_text("1 approved proposal would run at once.")
    expect(dialog).to_contain_text("We move the database")
    dialog.get_by_label("Why?").fill("It has moved")
    dialog.get_by_role("button", name="Resume").click()
    expect(desk.locator("#power")).to_contain_text("running")
