"""The pages in a real browser: accessible, fitting, without an error, also without scripts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import AnonymousUser, User
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from .served import Site

pytestmark = pytest.mark.browser
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def _render(
    template: str, context: dict[str, Any], *, theme: str = "", signed_in: bool = True
) -> str:
    request = RequestFactory().get("/", headers={"host": "localhost"})
    request.COOKIES["theme"] = theme
    request.user = (
        User(username="maya", first_name="Maya", last_name="Chen", is_staff=True)
        if signed_in
        else AnonymousUser()
    )
    return render_to_string(template, context, request)


def _row(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "Agent",
        "kind_path": "agent",
        "icon": "bot",
        "domain": "growth",
        "owner": "Maya Chen",
        "generation": 3,
        "conditions": {"good": 2, "bad": 0, "unknown": 0},
        "reported_at": timezone.now() - timedelta(minutes=2),
        "url": f"/resources/agent/{name}",
        **changes,
    }


ROWS = [
    _row("growth-optimizer"),
    _row("support-triage", conditions={"good": 1, "bad": 2, "unknown": 1}),
    _row("a" * 200, domain="", owner="", reported_at=None),
    _row("data-pipeline", conditions={"good": 0, "bad": 0, "unknown": 0}),
]


def _start(**changes: Any) -> dict[str, Any]:
    return {
        "sentence": "4 resources in 1 domain",
        "lede": "2 conditions are not met.",
        "kinds": [
            {"path": "agent", "plural": "Agents", "icon": "bot", "count": 4, "current": False},
            {
                "path": "memory",
                "plural": "Memories",
                "icon": "brain",
                "count": 0,
                "current": False,
            },
        ],
        "rows": ROWS,
        "next_url": "/?after=data-pipeline",
        "total": 4,
        "empty": False,
        "organisation": "Acme AI",
        **changes,
    }


PAGES = {
    "start": ("resources/start.html", _start()),
    "nothing of a kind": ("resources/start.html", _start(rows=[], next_url=None)),
    "welcome": ("resources/start.html", _start(rows=[], total=0, empty=True)),
    "sign in": ("registration/login.html", {"form": AuthenticationForm(), "next": ""}),
    "link": ("people/sign_in.html", {"person": "Maya Chen"}),
    "used link": ("people/sign_in.html", {"problem": "It was used already."}),
    "not found": ("404.html", {}),
    "not allowed": ("403.html", {}),
    "broken": ("500.html", {}),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_every_width(
    page: Page, site: Site, name: str, theme: str
) -> None:
    site.pages["/"] = _render(*PAGES[name], theme=theme)
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]

    for width in (1440, 1024, 768, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(site.url)
        found = Axe().run(page, options={"runOnly": RULES})

        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_conditions_are_told_in_words(page: Page, site: Site) -> None:
    """F-46"""
    site.pages["/"] = _render("resources/start.html", _start())

    page.goto(site.url)

    expect(page.get_by_role("row", name="support-triage")).to_contain_text("2 of 4 not met")
    expect(page.get_by_role("row", name="support-triage")).to_contain_text("1 unknown")
    expect(page.get_by_role("row", name="growth-optimizer")).to_contain_text("2 met")
    expect(page.get_by_role("row", name="data-pipeline")).to_contain_text("none")


def test_the_theme_is_kept_in_a_cookie_that_the_server_renders(page: Page, site: Site) -> None:
    site.pages["/"] = _render("resources/start.html", _start())
    page.emulate_media(color_scheme="light")
    page.goto(site.url)

    page.get_by_role("button", name="Switch light or dark theme").click()

    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    assert cookies["theme"] == "dark"
    assert 'data-theme="dark"' in _render("resources/start.html", _start(), theme="dark")


@pytest.mark.parametrize("theme", ["", "auto", '"><script>'])
def test_an_unknown_theme_is_left_out(theme: str) -> None:
    assert "data-theme" not in _render("resources/start.html", _start(), theme=theme)


def test_choosing_a_kind_replaces_only_the_page_and_keeps_the_keyboard_there(
    page: Page, site: Site
) -> None:
    site.pages["/"] = _render("resources/start.html", _start())
    page.goto(site.url)
    page.locator("aside").evaluate("element => { element.dataset.kept = 'yes' }")

    page.get_by_role("link", name="Agents 4").press("Enter")

    expect(page).to_have_url(f"{site.url}/?kind=agent")
    expect(page.get_by_role("link", name="Agents 4")).to_be_focused()
    expect(page.locator("aside")).to_have_attribute("data-kept", "yes")


@pytest.mark.parametrize(("current", "marked"), [(False, "All 4"), (True, "Agents 4")])
def test_exactly_one_choice_of_kinds_is_marked(
    page: Page, site: Site, current: bool, marked: str
) -> None:
    kind = {"path": "agent", "plural": "Agents", "icon": "bot", "count": 4, "current": current}
    site.pages["/"] = _render("resources/start.html", _start(kinds=[kind]))

    page.goto(site.url)

    expect(page.locator(".pick[aria-current]")).to_have_text([marked])


def test_a_page_without_scripts_offers_no_button_that_needs_them(
    browser: Browser, site: Site
) -> None:
    site.pages["/"] = _render("resources/start.html", _start(rows=[], empty=True))
    page = browser.new_page(java_script_enabled=False)

    page.goto(site.url)

    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    expect(page.get_by_role("button", name="Switch")).to_have_count(0)
    expect(page.get_by_role("button", name="Sign out")).to_have_count(1)
    page.close()


def test_someone_not_signed_in_is_offered_neither_admin_nor_sign_out() -> None:
    html = _render("resources/start.html", _start(), signed_in=False)

    assert "Sign out" not in html
    assert ">Admin<" not in html
