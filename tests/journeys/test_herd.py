"""A herd reports all at once: nothing breaks, nothing is lost, and people go on working."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.browsing.stage import servers
from tests.journeys.herd import Herd, Person, declare, reports, status
from tests.journeys.product import Product
from tests.journeys.red_team import Watcher

pytestmark = [pytest.mark.product, pytest.mark.full]

PAGES = ("/", "/approvals")
# Far more than a page takes: only one that hangs takes longer.
MOST_SECONDS = 10.0


class Size(NamedTuple):
    """How many agents, how many reports of them, and of how many at a time."""

    agents: int
    reports: int
    at_once: int


@pytest.mark.timeout(300)
def test_a_thousand_reports_in_one_burst(tmp_path: Path) -> None:
    # So few calls a second for so few agents at a time that a slow machine meets the limit, too.
    herd = Size(agents=8, reports=1_000, at_once=2)
    assert burst(tmp_path, herd, {"IOA_API_RATE": "4"}) > 0


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_ten_thousand_reports_in_one_burst(tmp_path: Path) -> None:
    burst(tmp_path, Size(agents=40, reports=10_000, at_once=4), {})


def burst(folder: Path, size: Size, given: Mapping[str, str]) -> int:
    """Let a herd report while a person works; return how many were told to come back."""
    names = [f"sheep-{number:02}" for number in range(size.agents)]
    with servers() as own, Product(folder / "data", given={**own, **given}) as product:
        watcher = Watcher(product)
        herd = Herd(product, declare(product, names))
        wanted = list(reports(names, size.reports, size.at_once))
        assert sum(len(each.figures) for each in wanted) == size.reports
        with Person(watcher.client, PAGES) as person:
            took = herd.run(wanted, obeying=False)
            turned_away = len(herd.refused)
            check(herd, watcher, names)
            again = herd.run(herd.later(), obeying=True)
        tell(herd, person, (took, turned_away, again))
        check(herd, watcher, names)
        check_pages(person, watcher)
        assert {each.figure for each in herd.accepted} == {each.figures[-1] for each in wanted}
        verdict = watcher.read("audit/verify")
        assert verdict["ok"], verdict["findings"]
    assert "Traceback" not in product.said()
    return turned_away


def check_pages(person: Person, watcher: Watcher) -> None:
    """Fail when a person met an error or a page that hangs, or was not heard."""
    assert person.wrong == []
    for page, times in person.times.items():
        assert times, page
        assert max(times) < MOST_SECONDS, (page, times)
    (hold,) = watcher.read("holds?standing=true")["items"]
    assert hold["reason"] == "Too much at once."


def check(herd: Herd, watcher: Watcher, names: list[str]) -> None:
    """Hold what is stored against the log of answers: the last of each, all of them, none torn."""
    assert herd.wrong == []
    assert set(herd.answers) <= {200, 429}
    assert all(wait >= 1 for wait in herd.waits)
    last = herd.last()
    for name in names:
        kept = watcher.read(f"resources/agent/{name}/status")
        expected = status(last[name])
        assert {field: kept[field] for field in expected} == expected, name
    rows = watcher.query(
        "SELECT n.name, r.resource_version FROM resources_resourcerevision r"
        " JOIN resources_resource n ON n.id = r.resource_id WHERE r.actor LIKE 'agent/%'"
    )
    assert sorted(rows) == sorted((each.agent, each.version) for each in herd.accepted)


def tell(herd: Herd, person: Person, figures: tuple[float, int, float]) -> None:
    """Print what was measured; `-s` shows it."""
    took, turned_away, again = figures
    print(f"\nburst {took:.1f} s, told to come back {turned_away}, then all in {again:.1f} s")  # noqa: T201
    print(f"answers {dict(herd.answers)}")  # noqa: T201
    for page, times in person.times.items():
        middle = sorted(times)[len(times) // 2] if times else 0
        print(f"{page}: {len(times)} times, middle {middle:.2f} s, most {max(times):.2f} s")  # noqa: T201
