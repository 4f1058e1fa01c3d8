"""Pages that need no data, in a real browser: accessible, fitting, also without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.forms import LoginForm
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import RequestFactory
from playwright.sync_api import Browser, Page, expect

from controllers.web.base.shell import Counts, Power

from .served import Site

pytestmark = [pytest.mark.browser, pytest.mark.full]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def _render(template: str, context: dict[str, Any], *, theme: str = "") -> str:
    request = RequestFactory().get("/", headers={"host": "localhost"})
    request.COOKIES["theme"] = theme
    request.user = User(username="maya", first_name="Maya", last_name="Chen", is_staff=True)
    return render_to_string(template, context, request)


def _framed(theme: str = "") -> str:
    """A page with everything around it that signed-in people have."""
    around = {"counts": Counts(4, False, 1, 0), "power": Power(1, 1, None), "badge": "2"}
    return _render("finding/shortcuts.html", {"shell": around}, theme=theme)


PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "sign in": ("door/sign_in.html", {"form": LoginForm(), "provider": "Example"}),
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


def test_the_theme_is_kept_in_a_cookie_that_the_server_renders(
    browser: Browser, site: Site
) -> None:
    site.pages["/"] = _framed()
    page = browser.new_page(color_scheme="light")
    page.goto(site.url)

    page.get_by_role("button", name="Switch light or dark theme").click()

    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    assert cookies["theme"] == "dark"
    assert 'data-theme="dark"' in _framed("dark")
    page.close()


@pytest.mark.parametrize("theme", ["", "auto", '"><script>'])
def test_an_unknown_theme_is_left_out(theme: str) -> None:
    assert "data-theme" not in _framed(theme)


def test_a_page_without_scripts_offers_no_button_that_needs_them(
    browser: Browser, site: Site
) -> None:
    site.pages["/"] = _framed()
    page = browser.new_page(java_script_enabled=False)

    page.goto(site.url)

    expect(page.get_by_role("button", name="Switch")).to_have_count(0)
    expect(page.get_by_role("button", name="Sign out")).to_have_count(1)
    page.close()
