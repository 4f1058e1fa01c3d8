"""What a page shows for a moment: dialogs, a selection, a refusal, an empty organisation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from .acting import Colleague, expect_live, toast, walk_to
from .looking import faults, faults_of
from .stage import Stage, fail_on_errors, staged

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sqlite,
    pytest.mark.timeout(1_200),
    pytest.mark.full,
]


def passes(found: list[str]) -> None:
    """Fail with everything that is wrong."""
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Stage]:
    """Start the product without anything in it."""
    with staged(tmp_path_factory.mktemp("bare"), browser) as stage:
        yield stage


def test_an_empty_organisation(bare: Stage) -> None:
    page = bare.open("admin", "/welcome")

    found = faults_of(page, ["/", "/approvals", "/resources", "/controllers", "/overrides"])
    bare.close()

    fail_on_errors(bare)
    passes(found)


@pytest.mark.parametrize("key", ["/", "?", "Shift+P"])
def test_a_dialog_opened_by_a_key(stage: Stage, key: str) -> None:
    page = stage.open("maya", "/inbox")
    expect(page.locator("#live")).to_be_visible()

    page.keyboard.press(key)

    expect(page.locator("#dialog[open] > *").first).to_be_visible()
    passes(faults(page))


def test_the_menu_of_a_phone(stage: Stage) -> None:
    page = stage.open("maya", "/", size="phone")

    page.get_by_role("link", name="More").click()

    expect(page.get_by_role("heading", level=1)).to_be_visible()
    passes(faults(page))


def test_a_selection(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("audience-mapper", 0.4)
    page = stage.open("maya", "/approvals")

    page.locator(f"#p-{number} .check").check()

    expect(page.locator(".bulk")).to_be_visible()
    passes(faults(page))


def test_a_form_of_a_verdict_beside_the_queue(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("ledger-reconciler", 0.45)
    page = stage.open("maya", "/approvals")
    walk_to(page, number)

    page.keyboard.press("r")

    expect(page.locator("#decision").get_by_role("button", name="Reject")).to_be_visible()
    passes(faults(page))


def test_somebody_who_was_faster(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("reply-drafter", 0.45)
    page = stage.open("maya", f"/approvals/{number}/decide?verdict=reject")
    page.get_by_label("Reason").fill("It plans the move")
    Colleague(stage, "tomas").answer(number, "reject", "Wait for the March budget.")

    page.get_by_role("button", name="Reject").click()

    expect(page.get_by_role("alert").first).to_contain_text("Tomás Silva")
    passes(faults(page))


def test_a_form_that_was_refused(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("churn-watcher", 0.45)
    page = stage.open("maya", f"/approvals/{number}/decide?verdict=reject")

    page.get_by_label("Reason").fill("   ")
    page.get_by_role("button", name="Reject").click()

    expect(page.locator("[aria-invalid=true]")).to_be_visible()
    passes(faults(page))


def test_an_answer_that_can_be_taken_back(stage: Stage, ines: Colleague) -> None:
    number = ines.throttle("insight-writer", 0.45)
    page = stage.open("maya", "/approvals")
    walk_to(page, number)

    page.keyboard.press("a")

    toast(page, f"P-{number}: Approved.")
    passes(faults(page))


@pytest.mark.parametrize(
    ("who", "where", "name"),
    [
        ("maya", "/overrides", "New override"),
        ("maya", "/overrides", "Pause or freeze"),
        ("maya", "/controllers/agent-performance", "What would it do?"),
        ("ines", "/controllers/agent-performance", "Trip now"),
        ("maya", "/resources/agent/growth-optimizer", "Override"),
    ],
)
def test_a_dialog_opened_by_a_link(stage: Stage, who: str, where: str, name: str) -> None:
    page = stage.open(who, where)

    page.locator("#main").get_by_role("link", name=name).first.click()

    expect(page.locator("#dialog[open] form")).to_be_visible()
    passes(faults(page))


@pytest.mark.parametrize("name", ["domain", "age", "more"])
def test_a_menu_of_filters(stage: Stage, name: str) -> None:
    page = stage.open("maya", "/approvals")

    page.locator(f"#pick-{name} summary").click()

    expect(page.locator(f"#pick-{name} .menu-in")).to_be_visible()
    passes(faults(page))


def test_a_page_without_its_server(stage: Stage) -> None:
    page = stage.open("maya", "/inbox")
    expect_live(page)
    page.context.set_offline(True)

    expect(page.locator("#live-banner")).to_contain_text("Connection lost", timeout=60_000)
    passes(faults(page))
    page.context.clear_cookies()
    page.context.set_offline(False)

    expect(page.locator("#live-banner")).to_contain_text("signed out", timeout=60_000)
    passes(faults(page))
    stage.errors = [each for each in stage.errors if "ERR_INTERNET_DISCONNECTED" not in each]


def test_everything_paused_and_what_a_viewer_may_not_do(stage: Stage) -> None:
    page = stage.open("maya", "/pause")
    page.get_by_label("Why?").fill("We count stock.")
    page.get_by_role("button", name="Pause all").click()
    expect(page.locator("#power")).to_contain_text("paused")

    found = faults_of(page, ["/", "/controllers", "/overrides", "/resume"])
    found += faults_of(stage.open("vera", "/profile"), ["/pause", "/overrides/new", "/approvals"])
    page.get_by_label("Why?").fill("All is counted.")
    page.get_by_role("button", name="Resume").click()

    expect(page.locator("#power")).to_contain_text("running")
    passes(found)
