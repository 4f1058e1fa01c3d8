"""The client in a real browser: parts change, what the reader does is left alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connections, transaction
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from controllers.access import people
from tests.api.conftest import ALICE
from tests.api.serving import Server
from tests.browser import launch
from tests.journeys.product import Product
from tests.live.tabs import measure

pytestmark = [pytest.mark.browser, pytest.mark.sqlite, pytest.mark.full]

Elsewhere = Callable[..., Any]
DOMAIN = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: support}
spec: {purpose: Something new}
"""
# A personal part with everything that a reader may be using, before and after a change.
OLD = """<form id="f"><input id="text" value="was"><input id="box" type="checkbox">
<select id="choice"><option>one<option>two</select></form>
<details id="extra"><summary>More</summary>Some more</details>
<ul><li class="row" id="row-1">A row</li></ul><a id="leaving" href="/more">Leaving</a><p>old</p>"""
NEW = """<form id="f"><input id="text" value="is"><input id="box" type="checkbox">
<select id="choice"><option>one<option>two</select></form>
<details id="extra"><summary>More</summary>Some more</details>
<ul><li class="row" id="row-1">A row, changed</li></ul><p>new</p>"""


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    """Change things in another thread: the browser's event loop occupies this one."""
    with ThreadPoolExecutor(1) as pool:

        def done(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
            return pool.submit(function, *given, **named).result(30)

        yield done
        done(connections.close_all)


@pytest.fixture
def context(server: Server, session: str) -> Iterator[BrowserContext]:
    """Return a browser that is signed in."""
    with launch() as browser:
        yield signed_in(browser, server, session)


def signed_in(browser: Browser, server: Server, session: str) -> BrowserContext:
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": session, "url": server.url}])
    return context


@pytest.fixture
def page(context: BrowserContext, server: Server) -> Iterator[Page]:
    """Open a page that is live; a CSP violation or an error in a script fails the test."""
    errors: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if "Security" in said.text else None)
    page.goto(f"{server.url}/more")
    expect(page.locator("#live")).to_have_attribute("data-state", "on")
    yield page
    assert errors == []


@pytest.mark.quick
def test_a_change_is_shown_and_the_keyboard_stays_where_it_was(
    page: Page, elsewhere: Elsewhere
) -> None:
    expect(page.locator("#live")).to_have_text("Live")
    page.locator("#sections a").nth(2).focus()

    elsewhere(measure, "support")

    expect(page.locator("#domains")).to_contain_text("support")
    resources = page.locator("#sections a").nth(2)
    expect(resources).to_contain_text("4")
    expect(resources).to_be_focused()


def test_what_the_reader_does_is_left_alone(page: Page, elsewhere: Elsewhere) -> None:
    page.evaluate("html => { document.getElementById('sections').innerHTML = html }", OLD)
    page.route("**/more", answer_with(NEW))
    page.locator("#text").fill("half a sentence")
    page.locator("#box").check()
    page.locator("#choice").select_option("two")
    page.locator("#extra summary").click()
    page.evaluate("document.getElementById('row-1').setAttribute('aria-current', 'true')")
    page.locator("#text").focus()

    elsewhere(measure, "support")

    expect(page.locator("#sections p")).to_have_text("new")
    expect(page.locator("#row-1")).to_have_text("A row, changed")
    expect(page.locator("#row-1")).to_have_attribute("aria-current", "true")
    expect(page.locator("#text")).to_have_value("half a sentence")
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#box")).to_be_checked()
    expect(page.locator("#choice")).to_have_value("two")
    expect(page.locator("#extra")).to_have_attribute("open", "")
    expect(page.locator("#leaving")).to_have_count(0)


def test_what_has_the_keyboard_stays_until_the_keyboard_leaves(
    page: Page, elsewhere: Elsewhere
) -> None:
    page.evaluate("html => { document.getElementById('sections').innerHTML = html }", OLD)
    page.route("**/more", answer_with(NEW))
    page.locator("#leaving").focus()

    elsewhere(measure, "support")

    expect(page.locator("#sections p")).to_have_text("new")
    expect(page.locator("#leaving")).to_be_focused()
    page.locator(".brand").focus()
    expect(page.locator("#leaving")).to_have_count(0)


def test_a_form_that_is_being_filled_in_is_not_taken_away(
    page: Page, elsewhere: Elsewhere
) -> None:
    page.evaluate("html => { document.getElementById('sections').innerHTML = html }", OLD)
    page.route("**/more", answer_with("<p>new</p>"))
    page.locator("#text").fill("half a sentence")
    page.locator(".brand").focus()

    elsewhere(measure, "support")

    expect(page.locator("#sections p")).to_have_text("new")
    expect(page.locator("#text")).to_have_value("half a sentence")


def test_a_form_is_not_taken_away_with_something_in_it_that_stays(
    page: Page, elsewhere: Elsewhere
) -> None:
    menu = '<details id="menu"><summary>More</summary>Some more</details>'
    old = f'<form id="f"><input id="text" value="was">{menu}</form><p>old</p>'
    page.evaluate("html => { document.getElementById('sections').innerHTML = html }", old)
    page.route("**/more", answer_with(f"<div>{menu}</div><p>new</p>"))
    page.locator("#text").fill("half a sentence")

    elsewhere(measure, "support")

    expect(page.locator("#sections > p")).to_have_text("new")
    expect(page.locator("#text")).to_have_value("half a sentence")
    expect(page.locator("#text")).to_be_focused()


def test_a_part_stays_while_something_is_sent_from_it_and_is_renewed_then(
    page: Page, elsewhere: Elsewhere
) -> None:
    form = '<form id="f" hx-post="/slow" hx-target="#said"><button>Send</button></form>'
    old = f'{form}<p id="said"></p><p id="word">old</p>'
    kept: list[Route] = []
    page.route("**/slow", lambda route: kept.append(route))
    page.route("**/more", answer_with('<p id="word">new</p><p id="said"></p>'))
    page.evaluate(
        "html => { const part = document.getElementById('sections');"
        " part.innerHTML = html; htmx.process(part) }",
        old,
    )
    page.locator("#f button").click()
    expect(page.locator("#f.htmx-request")).to_be_visible()

    with page.expect_response("**/more"):
        elsewhere(measure, "support")
    page.wait_for_timeout(300)
    expect(page.locator("#word")).to_have_text("old")

    page.locator(".brand").focus()
    kept[0].fulfill(body="Sent.")
    expect(page.locator("#word")).to_have_text("new")
    expect(page.locator("#f")).to_have_count(0)


def answer_with(html: str) -> Callable[[Route], None]:
    """Answer for the personal part; everything else is left to the server."""

    def answer(route: Route) -> None:
        if "sections" in route.request.headers.get("live-parts", ""):
            route.fulfill(body=f'<nav class="nav" id="sections">{html}</nav>')
        else:
            route.continue_()

    return answer


def test_who_is_signed_out_is_told_and_can_come_back(
    page: Page, elsewhere: Elsewhere, session: str
) -> None:
    elsewhere(sign_out, session)

    banner = page.locator("#notices [role=alert]")
    expect(banner).to_contain_text("You are signed out. Sign in again to go on.")
    expect(banner.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"/sign-in/\?next=%2Fmore$")
    )
    expect(page.locator("#live")).not_to_have_text("Live")


def sign_out(session: str) -> None:
    """End a session, and say that something happened to the person."""
    from django.contrib.auth.models import User

    Session.objects.get(pk=session).delete()
    user = User.objects.get(username="maya")
    with transaction.atomic():
        people.note(user, "person.changed", {}, actor=ALICE, now=timezone.now())


def test_without_a_socket_the_page_asks_every_few_seconds(
    context: BrowserContext, server: Server, elsewhere: Elsewhere
) -> None:
    page = context.new_page()
    page.route_web_socket(re.compile("/live"), lambda socket: socket.close())
    page.goto(f"{server.url}/more")
    live = page.locator("#live")
    expect(live).to_have_text("Live, every 5 s", timeout=10_000)

    elsewhere(measure, "support")

    expect(page.locator("#domains")).to_contain_text("support", timeout=10_000)


def test_a_product_that_comes_back_finds_its_pages_again(tmp_path: Path) -> None:
    with Product(tmp_path / "data") as product, launch() as browser:
        page = browser.new_page()
        page.goto(product.links()[0])
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{product.base}/more")
        expect(page.locator("#live")).to_have_text("Live")
        product.stop()
        expect(page.locator("#live")).to_have_text("Reconnecting", timeout=10_000)
        assert product.run("apply", "-f", "-", text=DOMAIN).returncode == 0
        notices = page.locator("#notices")
        expect(notices).to_contain_text("What you see may be old.", timeout=20_000)
        expect(notices.get_by_role("button", name="Retry")).to_be_visible()
        product.start()
        expect(page.locator("#live")).to_have_text("Live", timeout=15_000)
        expect(page.locator("#sections a").nth(2)).to_contain_text("1")
        expect(notices).not_to_contain_text("may be old")
        assert product.stop() == 0
        assert "Traceback" not in product.said()


def test_leaving_and_coming_back_shows_what_happened_meanwhile(
    page: Page, elsewhere: Elsewhere, server: Server
) -> None:
    page.goto(f"{server.url}/shortcuts")
    elsewhere(measure, "support")
    page.go_back()

    expect(page.locator("#live")).to_have_text("Live")
    expect(page.locator("#domains")).to_contain_text("support")
