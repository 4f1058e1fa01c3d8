"""The first minute: a link, a button, the organisation."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full]


def test_a_link_signs_a_manager_in(stage: Stage) -> None:
    page = stage.open("maya")

    expect(page.get_by_role("navigation", name="Sections")).to_contain_text("Approvals")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_the_same_link_works_once(stage: Stage) -> None:
    page = stage.open("maya")
    link = stage.product.link("tomas")
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: "/sign-in/" not in address)
    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()

    page.goto(link)

    expect(page.get_by_role("alert")).to_contain_text("used already")
