"""Dialogs, toasts and times in a real browser, under the product's CSP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, expect

from .around import whole
from .served import Site

pytestmark = pytest.mark.browser
BULK = '<form id="queue"></form><form class="bulk"><button>Approve</button></form>'


def test_a_dialog_opens_in_place_and_gives_the_keyboard_back(site: Site, page: Page) -> None:
    site.pages["/"] = whole("")
    site.pages["/pause"] = (
        '<form class="dialog-form" method="post" action="/pause"><h2>Pause all</h2>'
        '<input name="reason"><button type="button" data-act="close">Back</button></form>'
    )
    page.goto(site.url)

    page.keyboard.press("Shift+P")
    expect(page.get_by_role("dialog", name="Pause all")).to_be_visible()
    expect(page.locator("[name=reason]")).to_be_focused()
    page.keyboard.type("a?")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.get_by_role("link", name="Pause all")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Back").click()

    expect(page.get_by_role("link", name="Pause all")).to_be_focused()
    assert site.posts == []


def test_of_a_whole_page_the_dialog_shows_the_content(site: Site, page: Page) -> None:
    site.pages["/"] = whole("")
    site.pages["/shortcuts"] = whole("<h1>Shortcuts</h1><button>One</button>")
    page.goto(site.url)

    page.keyboard.press("?")

    expect(page.get_by_role("dialog", name="Shortcuts")).to_contain_text("One")
    expect(page.locator("nav")).to_have_count(1)


def test_a_dialog_that_cannot_be_opened_says_so(site: Site, browser: Browser) -> None:
    page = browser.new_page()
    site.pages["/"] = whole("")
    page.goto(site.url)

    page.get_by_role("link", name="Pause all").click()

    expect(page.get_by_role("alert")).to_have_text("This is not there any more.")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.close()


def test_the_palette_is_walked_with_arrows_and_enter_opens(site: Site, page: Page) -> None:
    options = "".join(
        f'<a id="o{key}" role="option" aria-selected="false" href="/{key}">{key}</a>'
        for key in ("one", "two")
    )
    site.pages["/"] = whole("")
    site.pages["/two"] = whole("<h1>Two</h1>")
    site.pages["/search"] = (
        '<form role="search"><label for="q">Search</label><input id="q" role="combobox" '
        'aria-controls="options" aria-expanded="true"></form>'
        f'<div id="options" role="listbox" aria-label="Results">{options}</div>'
    )
    page.goto(site.url)

    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search")
    expect(field).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "otwo")
    expect(field).to_have_value("")
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_have_text("Two")


@pytest.fixture
def tokyo(browser: Browser) -> Iterator[Page]:
    """Look from another zone, at a known time."""
    context = browser.new_context(timezone_id="Asia/Tokyo")
    page = context.new_page()
    page.clock.install(time=datetime(2026, 2, 25, 10, 42, tzinfo=UTC))
    yield page
    context.close()


def test_times_are_told_in_the_viewers_zone_and_go_on(site: Site, tokyo: Page) -> None:
    site.pages["/"] = whole(
        '<time id="a" datetime="2026-02-25T10:41:00Z" title="2026-02-25 10:41:00 UTC"'
        ' data-clock="time">10:41</time>'
        '<time id="b" datetime="2026-02-24T16:10:00Z" data-clock="moment">24 Feb, 16:10</time>'
        '<time id="c" datetime="2025-09-30T16:10:00Z" data-clock="date">30 Sep 2025</time>'
        '<time id="d" datetime="2026-02-25T10:44:30Z" data-left="in">in 2 min</time>'
        '<time id="e" datetime="2026-02-25T10:40:00Z" data-age>2 min ago</time>'
        '<time id="f" datetime="2026-02-25T14:00:30Z" data-left="left">3 h 18 min left</time>'
        '<time id="g" datetime="nonsense" data-age>long ago</time>'
        '<time id="h" datetime="2026-02-25T16:10:05Z" data-clock="stamp">25 Feb 16:10:05</time>'
    )
    tokyo.goto(site.url)

    told = [tokyo.locator(f"#{key}") for key in "abcdefgh"]
    words = ("19:41", "today, 01:10", "1 Oct 2025", "in 2 min", "2 min ago", "3 h 18 min left")
    for place, text in zip(told, (*words, "long ago", "26 Feb 01:10:05"), strict=True):
        expect(place).to_have_text(text)
    expect(told[0]).to_have_attribute("title", "2026-02-25 10:41:00 UTC")
    tokyo.clock.run_for(130_000)
    expect(told[3]).to_have_text(re.compile(r"^in \d{1,2} s$"))
    tokyo.clock.run_for(21_000)
    expect(told[3]).to_have_text("now")
    expect(told[4]).to_have_text("4 min ago")


def test_a_field_for_a_time_is_in_the_viewers_zone_and_sends_utc(site: Site, tokyo: Page) -> None:
    field = '<input type="datetime-local" name="{}" aria-label="{}" value="{}">'
    fields = [
        field.format("since", "Since", "2026-02-25T10:41"),
        field.format("until", "Until", ""),
    ]
    button = "<span data-zone>(UTC)</span><button>Send</button>"
    plain = f'<form method="post" action="/a">{fields[0]}{fields[1]}{button}</form>'
    swapped = f'<form hx-post="/b" hx-swap="none">{fields[0]}{button}</form>'
    site.pages["/"] = whole(swapped + plain)
    tokyo.goto(site.url)

    expect(tokyo.get_by_label("Since").first).to_have_value("2026-02-25T19:41")
    expect(tokyo.get_by_label("Until")).to_have_value("")
    expect(tokyo.locator("[data-zone]").first).to_have_text("(GMT+9)")
    tokyo.get_by_label("Since").first.fill("2026-02-26T08:30")
    with tokyo.expect_response("**/b"):
        tokyo.get_by_role("button").first.click()
    with tokyo.expect_response("**/a"):
        tokyo.get_by_role("button").last.click()

    assert site.posts == [
        {"since": ["2026-02-25T23:30"]},
        {"since": ["2026-02-25T10:41"], "until": [""]},
    ]


def test_a_toast_goes_by_itself_after_it_could_be_read(site: Site, tokyo: Page) -> None:
    site.pages["/"] = whole("")
    tokyo.goto(site.url)
    tokyo.evaluate("document.getElementById('toasts').innerHTML = '<p class=\"toast\">Done.</p>'")

    tokyo.clock.run_for(8_000)
    expect(tokyo.get_by_role("status")).to_have_text("Done.")
    tokyo.clock.run_for(5_000)

    expect(tokyo.get_by_role("status")).to_have_text("")


def test_without_scripts_dialogs_are_pages_and_times_are_utc(site: Site, browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False)
    clock = '<time datetime="2026-02-25T10:41:00Z" data-clock="time">10:41</time>'
    site.pages["/"] = whole(clock + BULK)
    site.pages["/pause"] = whole("<h1>Pause all</h1>")
    page.goto(site.url)

    expect(page.locator("time")).to_have_text("10:41")
    expect(page.locator(".bulk")).to_be_visible()
    page.get_by_role("link", name="Pause all").click()

    expect(page.locator("h1")).to_have_text("Pause all")
    page.close()
