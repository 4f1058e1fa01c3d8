"""The past of a resource, times in the zone of the one who looks, and tables taken away."""

from __future__ import annotations

import csv
import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from .acting import Colleague
from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.product, pytest.mark.full, pytest.mark.sqlite]

AGENT = "/resources/agent/offer-designer"
TOKYO = "Asia/Tokyo"


def test_a_slider_leads_into_the_past_in_the_zone_of_the_viewer(
    stage: Stage, ines: Colleague
) -> None:
    ines.report("offer-designer", errorRate=0.0123)
    ines.report("offer-designer", errorRate=0.0777)
    page = stage.open("maya", AGENT, timezone_id=TOKYO)
    slider, field = page.locator("#travel-place"), page.get_by_label("Time (GMT+9)")
    expect(page.locator("#main")).to_contain_text("7.8%")

    slider.focus()
    page.keyboard.press("ArrowLeft")
    chosen = field.input_value()
    at = datetime.fromisoformat(chosen).replace(tzinfo=ZoneInfo(TOKYO))
    assert at.timestamp() == float(slider.input_value())
    page.get_by_role("button", name="Show it then").click()

    page.wait_for_url(re.compile(r"utc="))
    expect(page.get_by_role("note")).to_contain_text("as it was on")
    expect(page.get_by_role("note")).to_contain_text("(GMT+9)")
    expect(page.get_by_label("Time (GMT+9)")).to_have_value(chosen)


def test_a_filter_by_time_means_the_time_of_the_viewer(stage: Stage) -> None:
    page = stage.open("maya", "/audit", timezone_id=TOKYO)
    page.locator(".refine summary").click()

    page.get_by_label("From (GMT+9)").fill("2026-02-25T09:30")
    page.get_by_role("button", name="Filter").click()

    page.wait_for_url(re.compile("since=2026-02-25T00%3A30"))
    expect(page.get_by_label("From (GMT+9)")).to_have_value("2026-02-25T09:30")
    first = page.locator("#audit-rows time").first
    expect(page.locator("#audit-rows thead")).to_contain_text("Time (GMT+9)")
    shown = page.evaluate(
        "(at) => new Date(at).toLocaleTimeString('en-GB', {timeZone: 'Asia/Tokyo'})",
        first.get_attribute("datetime"),
    )
    expect(first).to_contain_text(shown)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("/resources?kind=agent", "resources.csv"),
        ("/controllers", "controllers.csv"),
        ("/overrides", "overrides.csv"),
        ("/audit", "audit-log.csv"),
        ("/approvals", "proposals.csv"),
    ],
)
def test_a_table_is_taken_away_as_a_file(
    stage: Stage, tmp_path: Path, where: str, name: str
) -> None:
    page = stage.open("maya", where)
    if where == "/approvals":
        page.locator("#pick-more summary").click()

    with page.expect_download() as taken:
        page.get_by_role("link", name="Export CSV").click()

    kept = tmp_path / name
    taken.value.save_as(kept)
    assert taken.value.suggested_filename == name
    with kept.open(encoding="utf-8", newline="") as file:
        assert len(next(csv.reader(file))) > 5


def test_tables_are_sorted_by_their_heads(stage: Stage) -> None:
    page = stage.open("maya", "/resources")

    page.get_by_role("columnheader").get_by_role("link", name="Name").click()
    expect(page.locator("#rows th[aria-sort=ascending]")).to_contain_text("Name")
    names = page.locator("#rows .nm").all_inner_texts()
    assert names == sorted(names)

    page.goto("/controllers")
    page.get_by_role("columnheader").get_by_role("link", name="Drifting").click()
    expect(page.locator("#loops th[aria-sort=descending]")).to_contain_text("Drifting")
