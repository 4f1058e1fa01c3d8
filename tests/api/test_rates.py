"""Whoever calls too often is told when to come back; stopping and deciding always work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client

from resources.api import rate_limits
from resources.api.rate_limits import Local, Shared
from tests.api.conftest import Api, issue
from tests.api.deciding import as_person, problem
from tests.conftest import Clock

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

# So slow that no bucket fills again while a test runs, however busy the machine is.
RATE = 0.001
BURST = 6
NOWHERE = "redis://127.0.0.1:1/0"
PAUSE = {
    "kind": "pause",
    "scope": "resource",
    "resource": "agent/robin",
    "reason": "Enough for now.",
}


@pytest.fixture(autouse=True)
def slow(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow six calls and then hardly any, with buckets that nobody used before."""
    settings.API_RATE = RATE
    monkeypatch.setattr(rate_limits, "BURST_SECONDS", BURST / RATE)
    monkeypatch.setattr(rate_limits, "local", Local())
    monkeypatch.setattr(rate_limits, "PREFIX", f"test-{id(settings)}-{Clock().now}")


def statuses(call: Any, times: int) -> list[int]:
    """Call so often, and return the answers."""
    return [call().status_code for _ in range(times)]


def test_a_burst_is_taken_and_what_comes_after_is_told_when_to_come_back(robin: Api) -> None:
    found = statuses(lambda: robin.get("holds"), BURST + 2)

    assert found == [200] * BURST + [429] * 2
    answer = robin.get("holds")
    said = problem(answer, 429, "too-often")
    wait = int(answer["Retry-After"])
    assert 1 / RATE - 60 < wait <= 1 / RATE
    assert said["detail"] == f"Nothing was done. Try again in {wait} s, and send more at once."


def test_reads_and_writes_and_principals_have_buckets_of_their_own(robin: Api) -> None:
    assert 429 in statuses(lambda: robin.get("holds"), BURST + 1)

    report = {"items": [{"kind": "Agent", "name": "robin", "status": {"state": "running"}}]}
    assert robin.post("observations", report).status_code == 200
    other = Api(Client(), issue("robin"))
    assert other.get("holds").status_code == 200


def test_a_burst_of_reports_is_refused_without_an_error_and_without_a_write(robin: Api) -> None:
    report = {"items": [{"kind": "Agent", "name": "robin", "status": {"queueLength": 1}}]}

    found = statuses(lambda: robin.post("observations", report), 3 * BURST)

    assert set(found) == {200, 429}
    late = {"items": [{"kind": "Agent", "name": "robin", "status": {"queueLength": 9}}]}
    assert robin.post("observations", late).status_code == 429
    settled = Api(Client(), issue("robin")).get("resources/agent/robin/status").json()
    assert settled["queueLength"] == 1


@pytest.mark.usefixtures("robin")
def test_a_person_who_called_too_often_can_still_stop_and_decide(today: Clock) -> None:
    maya = as_person(today, "maya", "approver")
    assert 429 in statuses(lambda: maya.get("holds"), 4 * BURST)

    found = statuses(lambda: maya.post("holds", PAUSE), 2 * BURST)

    assert set(found) == {201}
    assert maya.post("proposals/decide", {}).status_code == 400
    assert maya.post("workflows/release/runs/1/cancel", {"reason": "No."}).status_code == 404
    assert maya.get("holds").status_code == 429


def test_pages_stay_usable_for_a_person_who_called_too_often(today: Clock) -> None:
    maya = as_person(today, "maya", "approver")
    assert 429 in statuses(lambda: maya.get("holds"), 4 * BURST)

    assert maya.client.get("/approvals").status_code == 200


def test_without_redis_each_process_counts_alone_and_nobody_meets_an_error(
    robin: Api, settings: Any
) -> None:
    settings.REDIS_URL = NOWHERE
    rate_limits.shared.cache_clear()

    found = statuses(lambda: robin.get("holds"), BURST + 2)

    assert found == [200] * BURST + [429] * 2


def test_many_at_once_take_no_more_than_there_is() -> None:
    bucket = Local()

    with ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(lambda _: bucket.take("a", 60, 300), range(200)))

    assert waits.count(0) == 5


def test_processes_that_share_redis_share_the_buckets(settings: Any) -> None:
    if not settings.REDIS_URL:
        pytest.skip("There is no Redis in this layout.")
    processes = [Shared(settings.REDIS_URL), Shared(settings.REDIS_URL)]

    with ThreadPoolExecutor(8) as threads:
        turns = [processes[turn % 2] for turn in range(60)]
        waits = list(threads.map(lambda each: each.take("a", 60, 300), turns))

    assert waits.count(0) == 5
    assert all(each.rests_until == 0 for each in processes)


def test_old_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "MOST_BUCKETS", 3)
    bucket = Local()

    for number in range(50):
        bucket.take(str(number), 1e-9, 1)

    assert len(bucket.full) <= 4
