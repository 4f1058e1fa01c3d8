"""Lists: filters, pages, time travel."""

from __future__ import annotations

import pytest
from django.utils import timezone

from resources.tables.ledger import instant
from resources.tables.models import Compaction
from tests.api.conftest import Api, agent, apply, domain
from tests.rows import every_row

pytestmark = pytest.mark.django_db


def names(answer: object) -> list[str]:
    return [item["metadata"]["name"] for item in answer.json()["items"]]  # type: ignore[attr-defined]


def test_a_list_holds_whole_documents_ordered_by_name(alice: Api, organisation: None) -> None:
    answer = alice.get("resources/agent")

    assert answer.status_code == 200
    assert names(answer) == ["robin", "wren"]
    assert answer.json()["items"][0]["spec"]["domain"] == "growth"
    assert "nextCursor" not in answer.json()


def test_pages_join_without_a_gap_or_a_repeat(alice: Api) -> None:
    apply(*(domain(f"d{letter}") for letter in "abcdefg"))
    seen: list[str] = []
    query = "limit=3"

    while query:
        page = alice.get("resources/domain", query)
        seen += names(page)
        cursor = page.json().get("nextCursor")
        query = f"limit=3&cursor={cursor}" if cursor else ""

    assert seen == [f"d{letter}" for letter in "abcdefg"]


def test_a_full_last_page_has_no_cursor(alice: Api) -> None:
    apply(domain("da"), domain("db"))

    assert "nextCursor" not in alice.get("resources/domain", "limit=2").json()


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tier=gold", ["a"]),
        ("tier!=gold", ["b", "c"]),
        ("tier in (gold,iron)", ["a", "b"]),
        ("!tier", ["c"]),
        ("tier,region=eu", ["b"]),
    ],
)
def test_labels_select_now_and_then(alice: Api, selector: str, expected: list[str]) -> None:
    apply(
        agent("a", "growth", labels={"tier": "gold"}),
        agent("b", "growth", labels={"tier": "iron", "region": "eu"}),
        agent("c", "growth"),
    )
    at = instant(timezone.now())

    present = alice.get("resources/agent", f"labelSelector={selector}")
    past = alice.get("resources/agent", f"labelSelector={selector}&at={at}")

    assert names(present) == expected
    assert names(past) == expected


def test_a_domain_narrows_the_list(alice: Api, organisation: None) -> None:
    assert names(alice.get("resources/agent", "domain=finance")) == ["wren"]


def test_the_list_as_it_was(alice: Api, organisation: None) -> None:
    before = instant(timezone.now())
    alice.delete("resources/agent/wren")
    apply(agent("stork", "growth"))

    assert names(alice.get("resources/agent", f"at={before}")) == ["robin", "wren"]
    assert names(alice.get("resources/agent")) == ["robin", "stork"]


def test_the_past_is_paged_too(alice: Api) -> None:
    apply(*(domain(f"d{letter}") for letter in "abc"))
    query = f"limit=2&at={instant(timezone.now())}"

    page = alice.get("resources/domain", query)
    cursor = page.json()["nextCursor"]
    following = alice.get("resources/domain", f"{query}&cursor={cursor}")

    assert names(page) + names(following) == ["da", "db", "dc"]
    assert "nextCursor" not in following.json()


def test_a_time_that_was_dropped_is_gone(alice: Api) -> None:
    Compaction.objects.create(name="revisions", before=timezone.now())

    answer = alice.get("resources/domain", "at=2026-01-01T00:00:00Z")

    assert answer.status_code == 410
    assert answer.json()["type"] == "/problems/gone"


@pytest.mark.django_db(transaction=True)
def test_a_watch_from_the_lists_version_misses_nothing(alice: Api, organisation: None) -> None:
    version = int(alice.get("resources/domain").json()["resourceVersion"])
    newest = alice.get("resources/agent/wren").json()["metadata"]["resourceVersion"]

    assert version >= int(newest)


@every_row(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=ten",
        "limit=",
        "limit=1e2",
        "limit=99999999999999999999",
        "limit=%D9%A3",
        "cursor=",
        "cursor=nonsense",
        "cursor=Imdyb3d0aCI:forged",
        "at=yesterday",
        "at=2026-01-01",
        "at=2026-01-01T00:00:00",
        "at=0001-01-01T00:00:00%2B23:59",
        "labelSelector==",
        "labelSelector=a%00b",
        "domain=%00",
        "labelselector=tier",
        "drifted=perhaps",
        "drifted=",
        "drifted=true&at=2026-01-01T00:00:00Z",
        "%00=1",
    ],
    rolled_back=True,
)
def test_a_bad_parameter_is_refused(alice: Api, query: str) -> None:
    answer = alice.get("resources/domain", query)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"]


def test_a_cursor_fits_only_the_list_it_came_from(alice: Api, organisation: None) -> None:
    cursor = alice.get("resources/domain", "limit=1").json()["nextCursor"]

    assert alice.get("resources/agent", f"limit=1&cursor={cursor}").status_code == 400
    assert alice.get("resources/domain", f"domain=growth&cursor={cursor}").status_code == 400
    assert alice.get("resources/domain", f"limit=2&cursor={cursor}").status_code == 200


def test_an_unknown_kind_is_not_found_and_the_known_ones_are_named(alice: Api) -> None:
    answer = alice.get("resources/unicorn")

    assert answer.status_code == 404
    assert "domain" in answer.json()["allowed"]
    assert alice.get("resources/Domain").status_code == 404
