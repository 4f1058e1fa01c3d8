"""The YAML editor and the diff view in a real browser, under the product's CSP."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from .served import Site

pytestmark = [pytest.mark.browser, pytest.mark.full]
DOCUMENT = "kind: Agent\nmetadata:\n  name: growth-optimizer\nspec:\n  type: loud\n"
PROBLEM = {
    "line": 5,
    "pointer": "/spec/type",
    "message": "“loud” is not a type.",
    "severity": "error",
}
SCRIPT = '<script src="/static/vendor/editor.js" defer></script>'


def _form(problems: list[dict[str, object]], attributes: str = 'data-check-url="/check"') -> str:
    return f"""<!doctype html><title>Edit</title>{SCRIPT}
<form method="post" action="/save">
<input type="hidden" name="csrfmiddlewaretoken" value="token-of-the-form">
<label for="spec">Document</label>
<textarea id="spec" name="spec" data-editor="yaml" required {attributes}>
{DOCUMENT}</textarea>
<script type="application/json" id="editor-problems">{json.dumps(problems)}</script>
<button>Save</button></form>"""


def _open(page: Page, site: Site, html: str) -> None:
    site.pages["/edit"] = html
    page.goto(f"{site.url}/edit")


def test_the_editor_replaces_the_textarea_and_keeps_it_in_sync(page: Page, site: Site) -> None:
    _open(page, site, _form([], attributes=""))

    page.get_by_role("textbox", name="Document").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("note")
    page.get_by_role("button", name="Save").click()

    expect(page.locator("body")).to_contain_text("[]")
    assert site.posts[0]["spec"] == [DOCUMENT.replace("\n", "\r\n") + "note"]


def test_problems_from_the_page_stand_beside_their_line(page: Page, site: Site) -> None:
    _open(page, site, _form([PROBLEM]))

    line = page.locator(".cm-line").nth(4)

    expect(line).to_contain_text("“loud” is not a type.")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    expect(page.get_by_role("status")).to_contain_text("1 problem.")


@pytest.mark.parametrize("line", [None, 0, 999], ids=["none", "too small", "too large"])
def test_a_problem_at_no_real_line_is_still_shown(
    page: Page, site: Site, line: int | None
) -> None:
    _open(page, site, _form([{**PROBLEM, "line": line}]))

    expect(page.locator(".cm-message-error")).to_have_count(1)


def test_typing_asks_the_server_once_after_a_pause(page: Page, site: Site) -> None:
    site.answer = [PROBLEM]
    _open(page, site, _form([]))

    page.get_by_role("textbox", name="Document").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("hello", delay=40)

    expect(page.locator(".cm-message-error")).to_have_count(1)
    assert len(site.posts) == 1
    assert site.posts[0]["csrfmiddlewaretoken"] == ["token-of-the-form"]
    assert site.posts[0]["spec"][0].endswith("hello")


def test_the_markup_of_a_message_is_shown_as_text(page: Page, site: Site) -> None:
    site.answer = [{**PROBLEM, "message": "<img src=x> is not a type."}]
    _open(page, site, _form([]))

    page.get_by_role("textbox", name="Document").click()
    page.keyboard.type("x")

    expect(page.locator(".cm-message-error")).to_have_text("<img src=x> is not a type.")


def test_the_page_says_so_when_the_check_gives_no_list(page: Page, site: Site) -> None:
    site.answer = "please sign in"
    _open(page, site, _form([]))

    page.get_by_role("textbox", name="Document").click()
    page.keyboard.type("x")

    expect(page.get_by_role("status")).to_contain_text("Not checked")


def test_tab_indents_and_escape_lets_the_keyboard_leave(page: Page, site: Site) -> None:
    _open(page, site, _form([], attributes=""))
    editor = page.get_by_role("textbox", name="Document")

    editor.click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")

    expect(page.get_by_role("button", name="Save")).to_be_focused()
    assert page.locator("textarea").input_value().startswith("  kind: Agent")


@pytest.mark.parametrize(
    ("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 22, 29)")]
)
def test_the_editor_follows_the_colour_scheme_of_the_page(
    page: Page, site: Site, scheme: str, background: str
) -> None:
    _open(page, site, _form([], attributes=""))

    page.evaluate("scheme => { document.documentElement.style.colorScheme = scheme }", scheme)

    expect(page.locator(".cm-editor")).to_have_css("background-color", background)


@pytest.mark.parametrize(("width", "panes"), [(1200, 2), (390, 1)])
def test_the_diff_view_fits_the_screen(page: Page, site: Site, width: int, panes: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})

    _open(
        page,
        site,
        f"""<!doctype html><title>Review</title>{SCRIPT}
<div data-merge data-left-title="Saved" data-right-title="Yours">
<textarea data-side="left" hidden readonly>
{DOCUMENT}</textarea>
<textarea data-side="right" hidden readonly>
{DOCUMENT.replace("loud", "advisory")}</textarea>
<table data-fallback><tr><td>fallback</td></tr></table></div>""",
    )

    expect(page.locator(".cm-editor")).to_have_count(panes)
    expect(page.locator("[data-fallback]")).to_be_hidden()
    expect(page.locator(".cm-editor").last).to_contain_text("advisory")
