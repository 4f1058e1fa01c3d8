"""Keys in a real browser, under the product's CSP."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .around import whole
from .served import Site

pytestmark = [pytest.mark.browser, pytest.mark.full]
ROW = """<li class="row" id="p-{0}"{1}><input class="check" type="checkbox" name="sel" value="{0}">
<div class="ttl"><a href="/approvals/{0}">Proposal {0}</a></div></li>"""
QUEUE = """<form id="queue" method="post" action="/many"><ul>{}</ul><div class="bulk">
<b><span data-count>0</span> selected</b><button name="answer" value="approve">Approve</button>
</div></form>""".format(
    "".join(ROW.format(key, ' aria-current="true"' * (key == 1)) for key in (1, 2, 3))
)
REJECT = '<a href="/reject" data-verdict="reject" data-key="r">Reject</a>'
FORM = (
    """<form method="post" action="/decide" data-friction="{}"><input name="reason" value="{}">
<button name="verdict" value="approve" data-verdict="approve" data-key="a">Approve</button>"""
    + REJECT
    + "</form>"
)


def approvals(friction: str = "none", reason: str = "As proposed", attributes: str = "") -> str:
    """Write the queue with the reading pane."""
    pane = f'<article id="pane">{FORM.format(friction, reason)}</article>'
    return whole(QUEUE + pane, attributes)


def posted(site: Site, page: Page) -> list[dict[str, list[str]]]:
    """Return what was sent, once the browser has had time to send it."""
    page.wait_for_timeout(150)
    return site.posts


@pytest.fixture
def queue(site: Site, page: Page) -> Page:
    """Look at the queue."""
    for address in ("/approvals", "/approvals/2", "/approvals/3", "/audit", "/reject"):
        site.pages[address] = whole(f"<h1>{address}</h1>")
    site.pages["/"] = approvals()
    page.goto(site.url)
    return page


def test_j_and_k_move_through_the_queue_and_enter_opens(queue: Page) -> None:
    queue.keyboard.press("j")
    expect(queue.get_by_role("link", name="Proposal 2")).to_be_focused()
    queue.keyboard.press("ArrowDown")
    queue.keyboard.press("j")
    expect(queue.locator('.row[aria-current="true"]')).to_have_id("p-3")
    queue.keyboard.press("k")
    queue.keyboard.press("Enter")

    expect(queue.locator("h1")).to_have_text("/approvals/2")


def test_a_approves_at_once_what_is_of_low_risk(site: Site, queue: Page) -> None:
    queue.keyboard.press("a")

    expect(queue.locator("body")).to_contain_text("[]")
    assert site.posts == [{"reason": ["As proposed"], "verdict": ["approve"]}]


def test_at_medium_risk_a_shows_the_reason_and_enter_sends_it(site: Site, page: Page) -> None:
    site.pages["/"] = approvals("confirm")
    page.goto(site.url)

    page.keyboard.press("a")
    expect(page.locator("[name=reason]")).to_be_focused()
    assert posted(site, page) == []
    page.keyboard.press("Enter")

    assert posted(site, page) == [{"reason": ["As proposed"], "verdict": ["approve"]}]


def test_at_high_risk_a_asks_for_a_reason_that_is_sent_with_control(
    site: Site, page: Page
) -> None:
    form = FORM.replace(
        '<input name="reason" value="{}">', '<textarea name="reason">{}</textarea>'
    )
    site.pages["/"] = whole(f'<article id="pane">{form.format("reason", "")}</article>')
    page.goto(site.url)

    page.keyboard.press("a")
    page.keyboard.type("Safe: apr")
    page.keyboard.press("Enter")
    assert posted(site, page) == []
    page.keyboard.press("Control+Enter")

    assert posted(site, page)[0]["reason"] == ["Safe: apr\r\n"]


def test_a_form_that_does_not_say_its_risk_is_never_sent_by_one_key(
    site: Site, page: Page
) -> None:
    form = FORM.replace(' data-friction="{}"', "").replace('<input name="reason" value="{}">', "")
    site.pages["/"] = whole(f'<article id="pane">{form}</article>')
    page.goto(site.url)

    page.keyboard.press("a")

    expect(page.get_by_role("button", name="Approve")).to_be_focused()
    assert posted(site, page) == []


@pytest.mark.parametrize("key", ["Control+a", "Meta+a", "Alt+a", "b", "A", "q", "Enter"])
def test_no_other_key_approves(site: Site, queue: Page, key: str) -> None:
    queue.keyboard.press(key)

    assert posted(site, queue) == []


def test_nothing_happens_while_somebody_types(site: Site, queue: Page) -> None:
    queue.locator("[name=reason]").fill("")
    queue.locator("[name=reason]").press_sequentially("arjx?/g")

    expect(queue.locator("[name=reason]")).to_have_value("arjx?/g")
    expect(queue.locator("dialog[open]")).to_have_count(0)
    assert posted(site, queue) == []


def test_single_keys_can_be_switched_off(site: Site, page: Page) -> None:
    site.pages["/"] = approvals(attributes='data-keys="off"')
    page.goto(site.url)

    for key in ("a", "j", "x", "?"):
        page.keyboard.press(key)

    assert posted(site, page) == []
    expect(page.locator(".bulk")).to_be_hidden()
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("[aria-keyshortcuts]")).to_have_count(0)


def test_r_presses_what_is_on_the_page(queue: Page) -> None:
    expect(queue.locator("[data-verdict=reject]")).to_have_attribute("aria-keyshortcuts", "r")
    queue.keyboard.press("r")

    expect(queue.locator("h1")).to_have_text("/reject")


def test_selected_rows_are_counted_cleared_and_approved_together(site: Site, queue: Page) -> None:
    bulk = queue.locator(".bulk")
    expect(bulk).to_be_hidden()
    queue.keyboard.press("Shift+A")
    for key in ("x", "j", "x"):
        queue.keyboard.press(key)
    expect(bulk).to_contain_text("2 selected")
    queue.keyboard.press("Escape")
    expect(bulk).to_be_hidden()
    assert posted(site, queue) == []

    queue.keyboard.press("x")
    queue.keyboard.press("Shift+A")

    assert posted(site, queue) == [{"sel": ["2"], "answer": ["approve"]}]


def test_two_keys_lead_to_a_section_and_the_first_alone_nowhere(queue: Page) -> None:
    queue.keyboard.press("g")
    queue.keyboard.press("l")

    expect(queue.locator("h1")).to_have_text("/audit")


def test_u_takes_back_what_the_toast_offers(site: Site, queue: Page) -> None:
    undo = '<form method="post" action="/undo"><button data-verdict="undo" name="u">Undo</button>'
    queue.keyboard.press("u")
    assert posted(site, queue) == []
    queue.evaluate(
        "html => { document.getElementById('toasts').innerHTML = html }",
        f'<div class="toast">Approved. {undo}</form></div>',
    )

    queue.keyboard.press("u")

    assert posted(site, queue) == [{"u": [""]}]


def test_on_the_overview_keys_answer_only_where_the_keyboard_is(site: Site, page: Page) -> None:
    need = '<article class="need"><h3><a href="/x">{0}</a></h3>' + FORM.format("none", "{0}")
    site.pages["/"] = whole(need.format("First") + "</article>" + need.format("Second"))
    page.goto(site.url)

    page.keyboard.press("a")
    assert posted(site, page) == []
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("a")

    assert posted(site, page)[0]["reason"] == ["Second"]


def test_where_there_is_one_thing_to_answer_keys_answer_it(site: Site, page: Page) -> None:
    site.pages["/"] = whole('<a href="/paused" data-verdict="pause" data-key="p">Pause</a>')
    site.pages["/paused"] = whole("<h1>Paused</h1>")
    page.goto(site.url)

    page.keyboard.press("p")

    expect(page.locator("h1")).to_have_text("Paused")


def test_a_dot_leads_to_the_newest(site: Site, queue: Page) -> None:
    for key in ("j", "j", "."):
        queue.keyboard.press(key)
    expect(queue.locator('.row[aria-current="true"]')).to_have_id("p-1")
    site.pages["/old"] = whole('<a href="/audit" data-act="new">Newest</a>')
    queue.goto(f"{site.url}/old")

    queue.keyboard.press(".")

    expect(queue.locator("h1")).to_have_text("/audit")
