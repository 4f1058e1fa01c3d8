"""What one round tells the open pages: shared parts once for all, personal ones by name."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import orjson
import pytest
from django.db import connection, connections, transaction
from django.http import QueryDict
from django.utils import timezone

from controllers.web.base.page import AROUND, Page, PageRequest
from controllers.web.live import broadcast
from controllers.web.live.broadcast import MOST_ENTRIES, missed, publish
from controllers.web.live.subscription import Seat
from resources.tables import ledger, versions
from resources.tables.models import LedgerEvent
from tests.api.conftest import ALICE, agent, apply
from tests.live.tabs import measure

pytestmark = [pytest.mark.usefixtures("growth"), pytest.mark.servers]
SHARED = {name for name, part in AROUND.items() if part.shared}
PERSONAL = set(AROUND) - SHARED


def told(seat: Seat, *others: Seat) -> dict[str, Any]:
    """Return what a page is told in a round."""
    message: dict[str, Any] = orjson.loads(publish({seat, *others}, 0).messages[seat])
    return message


def happen(stream: str, *subjects: str) -> None:
    """Write entries into the ledger."""
    entries = [ledger.Entry(stream, "thing.happened", subject) for subject in subjects]
    with transaction.atomic():
        ledger.append(entries, actor=ALICE, now=timezone.now())


def test_a_page_is_pushed_what_is_shared_and_told_what_to_fetch() -> None:
    before = versions.horizon()
    measure("support")

    message = told(Seat("/shortcuts", before))

    assert '<nav class="nav opt" id="domains"' in message["html"]
    assert 'id="sections"' not in message["html"]
    assert set(message["fetch"]) <= PERSONAL
    assert "sections" in message["fetch"]
    assert message["number"] == versions.horizon()


def test_what_is_pushed_is_what_a_fresh_page_shows() -> None:
    before = versions.horizon()
    measure("support")
    message = told(Seat("/shortcuts", before))

    fresh = Page(PageRequest("/", QueryDict(), timezone.now()))

    assert message["html"] == fresh.render_parts(["domains", "power"])


def test_a_shared_part_is_rendered_once_whoever_looks_and_wherever(
    renders: Counter[str],
) -> None:
    before = versions.horizon()
    measure("support")

    seats = {Seat("/shortcuts", before), Seat("/more", before), Seat("/more?x=1", before)}
    edition = publish(seats, 0)

    assert len(edition.messages) == 3
    assert {name: renders[name] for name in SHARED} == dict.fromkeys(SHARED, 1)
    assert not PERSONAL & set(renders)


def test_a_page_is_told_only_what_concerns_it(renders: Counter[str]) -> None:
    before = versions.horizon()
    happen("person/maya", "person/maya")

    message = told(Seat("/shortcuts", before))

    assert message["html"] == ""
    assert set(message["fetch"]) == {"sections", "tabs"}
    assert not renders


def test_who_knows_everything_is_told_nothing(renders: Counter[str]) -> None:
    edition = publish({Seat("/shortcuts", versions.horizon()), Seat("/more")}, 0)

    assert edition.messages == {}
    assert not renders


@pytest.mark.parametrize(
    "address", ["/nowhere", "/resources/agent/nobody", "/pause", "/live/poll"]
)
def test_a_page_that_is_not_there_is_told_of_what_stands_around_it(address: str) -> None:
    before = versions.horizon()
    measure("support")

    message = told(Seat(address, before), Seat("/more", before))

    assert set(message["fetch"]) >= {"sections"}
    assert 'id="domains"' in message["html"]


def test_a_page_that_breaks_is_fetched_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = versions.horizon()
    measure("support")
    original = Page.render_part

    def breaking(self: Page, name: str) -> str:
        if name == "domains":
            raise ZeroDivisionError
        return original(self, name)

    monkeypatch.setattr(Page, "render_part", breaking)
    message = told(Seat("/shortcuts", before))

    assert "domains" in message["fetch"]
    assert 'id="power"' in message["html"]
    assert "domains" in caplog.text


def test_who_missed_too_much_is_told_everything_and_nobody_else_is() -> None:
    measure("support")
    happen("odd/1", *(f"odd/{number}" for number in range(MOST_ENTRIES)))
    upto = versions.horizon()
    happen("odd/1", "odd/last")
    behind, near = Seat("/shortcuts", 1), Seat("/more", upto)

    edition = publish({behind, near}, 0)

    message = orjson.loads(edition.messages[behind])
    assert set(message["fetch"]) == PERSONAL
    assert all(f'id="{name}"' in message["html"] for name in SHARED)
    assert near not in edition.messages


def test_a_round_says_whether_people_changed() -> None:
    before = versions.horizon()
    measure("support")
    assert not publish({Seat("/more", before)}, before).people
    happen("person/maya", "person/maya")
    assert publish({Seat("/more", before)}, before).people


def test_a_round_costs_the_same_however_many_look() -> None:
    before = versions.horizon()
    measure("support")
    few = {Seat("/shortcuts", before)}
    many = {Seat(f"/shortcuts?{number}", before) for number in range(50)}

    assert statements(few) == statements(many)


def statements(seats: set[Seat]) -> int:
    """Return how many statements a round takes."""
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        news = broadcast.read([each.number for each in seats], 0)
        press = broadcast.Press(news, timezone.now())
        for each in seats:
            assert press.message(each)
    return len(queries)


def test_what_a_page_missed_is_named() -> None:
    before = versions.horizon()
    assert missed(Seat("/more", before), timezone.now()).fetch == []
    apply(agent("sam", "growth"))
    assert set(missed(Seat("/more", before), timezone.now()).fetch) >= SHARED | {"sections"}


def test_a_horizon_that_seems_to_step_back_takes_nobody_back() -> None:
    known = versions.horizon() + 5

    edition = publish({Seat("/more", known)}, known)

    assert edition.upto == known
    assert edition.messages == {}


@pytest.mark.postgres
def test_a_number_that_an_open_transaction_holds_is_not_passed_by() -> None:
    before = versions.horizon()
    taken, go_on = threading.Event(), threading.Event()

    def hold_one_open() -> None:
        with transaction.atomic():
            ledger.append(
                [ledger.Entry("person/slow", "thing.happened", "person/slow")],
                actor=ALICE,
                now=timezone.now(),
            )
            taken.set()
            go_on.wait(20)
        connections.close_all()

    slow = threading.Thread(target=hold_one_open)
    slow.start()
    assert taken.wait(20)
    measure("support")
    first = publish({Seat("/more", before)}, before)
    go_on.set()
    slow.join()
    second = publish({Seat("/more", first.upto)}, first.upto)

    held = LedgerEvent.objects.get(subject="person/slow").id
    assert first.upto < held
    assert second.upto > held
    message = orjson.loads(second.messages[Seat("/more", first.upto)])
    assert "tabs" in message["fetch"]
    assert 'id="domains"' in message["html"]
