"""The admin and the resource page in a real browser, with scripts and without, under the CSP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from django.urls import reverse
from playwright.sync_api import ConsoleMessage, Page, expect

from resources.tables.models import Resource
from tests.admin.pages import of, url
from tests.browser import launch
from tests.conftest import Clock
from tests.resources.making import apply, live, made, owned, report

pytestmark = [pytest.mark.browser, pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@contextmanager
def visit(live_server: Any, client: Client, **options: Any) -> Iterator[Page]:
    """Open a page as somebody; it fails the test when the console shows an error."""
    session: Any = {
        "name": "sessionid",
        "value": client.cookies["sessionid"].value,
        "url": live_server.url,
    }
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # Chromium calls every refused form an error; the test server has no sockets.
        meant = "status of 400" in message.text or "WebSocket connection" in message.text
        if message.type == "error" and not meant:
            errors.append(f"{message.text} at {message.location.get('url')}")

    with launch() as browser:
        context = browser.new_context(base_url=live_server.url, **options)
        context.add_cookies([session])
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        context.close()
    assert errors == []


def replace_last_word(page: Page, line: str, word: str) -> None:
    """Type over the last word of a line in the editor."""
    page.locator(".cm-line", has_text=line).click()
    page.keyboard.press("End")
    page.keyboard.press("Control+Shift+ArrowLeft")
    page.keyboard.type(word)


def test_an_edit_is_marked_reviewed_and_saved(
    live_server: Any, harbour: Any, operator: Client
) -> None:
    address = of("Agent", "robin")

    with visit(live_server, operator) as page:
        page.goto(address)
        replace_last_word(page, "type: supervised", "loud")
        expect(page.locator(".cm-line", has_text="type: loud")).to_contain_text("must be one of")
        expect(page.locator(".cm-lint-marker-error")).to_have_count(1)

        replace_last_word(page, "type: loud", "advisory")
        expect(page.locator(".cm-lint-marker-error")).to_have_count(0)
        page.get_by_label("Why").fill("It only advises.")
        page.get_by_role("button", name="Review changes").click()

        expect(page.locator(".cm-merge-b")).to_contain_text("advisory")
        expect(page.locator(".sides table")).to_be_hidden()
        expect(page.get_by_text("Nothing is saved yet.")).to_be_visible()
        page.get_by_role("button", name="Save").click()

        expect(page.get_by_role("status").first).to_contain_text("Saved robin, generation 2.")
        expect(page.get_by_text("It only advises.")).to_be_visible()

    assert live("Agent", "robin").spec["type"] == "advisory"


@pytest.mark.full
def test_an_edit_works_without_scripts(live_server: Any, harbour: Any, operator: Client) -> None:
    address = of("Agent", "robin")

    with visit(live_server, operator, java_script_enabled=False) as page:
        page.goto(address)
        text = page.get_by_label("Document").input_value()
        page.get_by_label("Document").fill(text.replace("supervised", "loud"))
        with page.expect_response(address) as refused:
            page.get_by_role("button", name="Review changes").click()
        expect(page.get_by_role("alert")).to_contain_text("Line 7")
        expect(page.get_by_role("alert")).to_contain_text("spec.type must be one of")

        kept = page.get_by_label("Document").input_value()
        page.get_by_label("Document").fill(kept.replace("loud", "advisory"))
        page.get_by_role("button", name="Review changes").click()
        expect(page.locator(".sides ins")).to_have_text("type: advisory")
        page.get_by_role("button", name="Back to editing").click()
        expect(page.get_by_label("Document")).to_have_value(text.replace("supervised", "advisory"))
        page.get_by_role("button", name="Review changes").click()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved robin, generation 2.")).to_be_visible()
        status = refused.value.status

    assert status == 400
    assert live("Agent", "robin").spec["type"] == "advisory"


@pytest.mark.full
def test_every_page_fits_and_breaks_no_rule(
    live_server: Any, harbour: Any, administrator: Client, clock: Clock
) -> None:
    conditions = [{"type": "Ready", "status": "False", "message": "It sleeps."}]
    report(clock.now, "robin", {"state": "running", "conditions": conditions})
    apply(
        clock.advance(minutes=1),
        made("Agent", "robin", {"domain": "pier", "purpose": "x" * 200}),
        owned("Budget", "money", ("Agent", "robin", "block")),
    )
    first = live("Agent", "robin").revisions.order_by("resource_version")[0].resource_version
    ours = [
        "/resources/agent/robin",
        "/resources/agent/robin?at=2026-11-16T10:00:00Z",
        of("Agent", "robin"),
        f"{of('Agent', 'robin')}?restore={first}",
        of("Agent", "robin", "history"),
        of("Agent", "robin", "revision", first),
        of("Agent", "robin", "delete"),
        of("Domain", "harbour", "delete"),
        url("agent", "add"),
        reverse("admin:resources_agenttoken_add"),
    ]

    with visit(live_server, administrator) as page:
        for address in ours:
            for theme, width in (("light", 1440), ("dark", 390)):
                page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                page.set_viewport_size({"width": width, "height": 844})
                page.goto(address)
                found = Axe().run(page, context=within(address), options={"runOnly": RULES})

                assert found.violations_count == 0, f"{address} {theme} {found.generate_report()}"
                assert page.evaluate("document.documentElement.scrollWidth") <= width


def within(address: str) -> str:
    """Judge our own parts: the frame around them in the admin is Django's."""
    return "#content" if address.startswith("/admin/") else "body"


def test_no_page_of_the_admin_breaks_the_content_security_policy(
    live_server: Any, harbour: Any, administrator: Client
) -> None:
    lists = [
        url(name, "changelist")
        for name in ("agent", "ledgerevent", "checkpoint", "resourcerevision", "agenttoken")
    ]
    frame = [reverse("admin:index"), reverse("admin:app_list", args=["resources"])]

    with visit(live_server, administrator) as page:
        for address in [*lists, *frame]:
            page.goto(address)
            expect(page.locator("#content h1")).to_be_visible()

    assert Resource.objects.exists()
