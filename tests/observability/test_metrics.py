"""What happens is counted where it happens, once it is true; what is a row is read at a scrape."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.test import Client

from controllers import execution
from controllers.decisions import answers
from controllers.loop import recovery
from controllers.loop.cycle_run import Means
from controllers.models import Cycle, Delivery, Hold, Proposal
from controllers.notifications import delivery
from controllers.web.live.hub import Hub
from controllers.worker import housekeeping
from controllers.workqueue import queue
from resources.documents.actor import SYSTEM
from resources.store import evidence
from resources.store.announcements import Wakeup
from resources.tables import ledger
from tests.conftest import Clock
from tests.controllers.making import controller, declare, drifted, healthy, work
from tests.decisions import making
from tests.observability.reading import Growth, scrape

# Whatever counts once it is committed has to be committed.
pytestmark = pytest.mark.django_db(transaction=True)


def test_cycles_are_counted_by_how_they_ended_with_the_time_of_each_phase(clock: Clock) -> None:
    declare(clock, controller())
    drifted(clock, "farm")
    grown = Growth()

    work(clock)

    assert grown.of('ioa_cycles_total{outcome="drift_reported"}') == 1
    assert grown.of("ioa_cycle_seconds_count") == 1
    for phase in ("watch", "diff", "plan", "act", "report"):
        assert grown.of(f'ioa_phase_seconds_total{{phase="{phase}"}}') > 0


def test_a_cycle_whose_worker_was_lost_is_counted_when_it_is_closed(clock: Clock) -> None:
    declare(clock, controller())
    [cycle] = work(clock)
    Cycle.objects.filter(pk=cycle.pk).update(finished_at=None)
    grown = Growth()

    recovery.close_lost(cycle.controller_id, cycle.token + 1, clock.now)
    recovery.close_lost(cycle.controller_id, cycle.token + 1, clock.now)

    assert grown.of('ioa_cycles_total{outcome="lost"}') == 1


def test_ledger_entries_count_once_they_are_committed_and_never_if_they_are_not(
    clock: Clock,
) -> None:
    entries = [ledger.Entry("thing", "thing.happened", "thing/one")] * 3
    grown = Growth()

    with transaction.atomic():
        ledger.append(entries, actor=SYSTEM, now=clock.now)
    with transaction.atomic():
        ledger.append(entries, actor=SYSTEM, now=clock.now)
        transaction.set_rollback(True)

    assert grown.of("ioa_ledger_events_total") == 3


def test_how_long_people_took_counts_when_they_decide_and_not_with_every_vote(
    clock: Clock, maya: User
) -> None:
    row = making.proposal(clock, making.agent(clock), making.controller(clock), people=2)
    alone = making.person(clock, "tomas", "approver")
    grown = Growth()
    given: dict[str, Any] = {"seen": making.seen(row), "reason": "Looked at it."}
    now = clock.now + timedelta(minutes=2)

    answers.approve(row.pk, person=maya, now=now, **given)
    assert grown.of('ioa_decision_seconds_count{answer="approve"}') == 0
    answers.approve(row.pk, person=alone, now=now, **given)

    assert grown.of('ioa_decision_seconds_count{answer="approve"}') == 1
    assert grown.of('ioa_decision_seconds_sum{answer="approve"}') == pytest.approx(120)


def test_an_effect_counts_by_who_did_it_and_what_became_of_it(clock: Clock, maya: User) -> None:
    row = making.proposal(clock, making.agent(clock), None, proposer="person/robin")
    seen = making.seen(row)
    answers.approve(row.pk, person=maya, seen=seen, now=clock.now, reason="Looked at it.")
    grown = Growth()

    execution.run_due("worker", Means(clock=lambda: clock.now))

    assert Proposal.objects.get(pk=row.pk).state == "verifying"
    assert grown.of('ioa_effects_total{kind="control-plane",outcome="done"}') == 1


def test_requests_count_by_route_never_by_address() -> None:
    grown = Growth()

    Client().get("/api/v1/resources/agent/somebody")
    Client().get("/nowhere/at/all")
    Client().generic("BREW", "/healthz")

    new = [name for name in scrape() if name not in grown.before]
    assert grown.of('ioa_http_requests_total{method="GET",route="api-resource",status="4xx"}') == 1
    assert grown.of('ioa_http_requests_total{method="other",route="healthz",status="4xx"}') == 1
    assert not any("somebody" in name or "nowhere" in name for name in new)


def test_open_pages_are_counted_while_they_are_open() -> None:
    async def follow(self: Hub) -> None:
        """Look at nothing."""

    hub: Any = type("Quiet", (Hub,), {"follow": follow})()

    async def visit() -> None:
        hub.join(object())

    asyncio.run(visit())
    assert scrape()["ioa_live_sockets"] == 1
    hub.leave(next(iter(hub.members)))

    assert scrape()["ioa_live_sockets"] == 0


def test_a_wakeup_that_fails_is_counted() -> None:
    class Broken(Wakeup):
        def send(self) -> None:
            raise OSError("Redis is away.")

    wakeup, grown = Broken("web"), Growth()

    wakeup.attempt()
    wakeup.attempt()

    assert grown.of("ioa_wakeup_failures_total") == 2


def test_what_waits_is_read_when_somebody_asks(clock: Clock, maya: User) -> None:
    clock.now -= timedelta(minutes=10)
    declare(clock, controller())
    healthy(clock, "farm")
    work(clock)
    row = making.proposal(clock, making.agent(clock))
    quiet = clock.now + timedelta(days=1)
    old = clock.now - timedelta(days=3)
    making.proposal(clock, row.resource, proposer="agent/ada", quiet_until=quiet, created_at=old)
    Hold.objects.create(
        kind="pause", scope="organisation", reason="x", author="person/maya",
        placed_at=clock.now, epoch=1,
    )  # fmt: skip
    delivery.tell("ops", title="x", body="x", severity="info", key="k", now=clock.now)
    queue.enqueue_whole(Cycle.objects.get().controller_id, queue.Request(queue.MANUAL, clock.now))

    found = scrape()

    assert found['ioa_proposals{state="pending"}'] == 2
    assert 600 <= found['ioa_proposals_oldest_seconds{state="pending"}'] < 700
    assert found['ioa_holds{kind="pause"}'] == 1
    assert found['ioa_outbox_messages{state="waiting"}'] == 1
    assert 600 <= found["ioa_outbox_oldest_seconds"] < 700
    assert found['ioa_queue_items{state="due"}'] == 1
    assert 600 <= found["ioa_queue_oldest_seconds"] < 700
    assert found['ioa_controllers{state="running"}'] == 1


def test_a_message_that_was_given_up_counts_as_failed(clock: Clock) -> None:
    delivery.tell("ops", title="x", body="x", severity="info", key="k", now=clock.now)
    Delivery.objects.update(state=Delivery.State.GIVEN_UP)

    found = scrape()

    assert found['ioa_outbox_messages{state="failed"}'] == 1
    assert found["ioa_outbox_oldest_seconds"] == 0


def test_a_loop_that_never_beat_is_silent_for_ever(clock: Clock) -> None:
    assert scrape()["ioa_loop_heartbeat_age_seconds"] == float("inf")

    housekeeping.run_due(clock.now)

    assert scrape()["ioa_loop_heartbeat_age_seconds"] < 60


def test_entries_without_a_checkpoint_grow_old(clock: Clock) -> None:
    clock.now -= timedelta(hours=1)
    declare(clock, controller())
    assert scrape()["ioa_ledger_unsigned_age_seconds"] > 3_500

    evidence.checkpoint(clock.now)

    assert scrape()["ioa_ledger_unsigned_age_seconds"] == 0


def test_a_scrape_takes_seven_statements_however_much_there_is(
    clock: Clock, django_assert_num_queries: Any
) -> None:
    declare(clock, controller())
    drifted(clock, "farm", "harbour", "mill")
    work(clock)

    with django_assert_num_queries(7):
        scrape()


def test_without_a_database_the_process_still_tells_what_it_counted(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(clock, controller())
    work(clock)

    def refuse(*_: Any) -> None:
        raise OperationalError("The server is gone.")

    monkeypatch.setattr(CursorWrapper, "execute", refuse)
    connection.close()

    found = scrape()

    assert found["ioa_database_up"] == 0
    assert found["ioa_cycle_seconds_count"] > 0
    assert "ioa_queue_oldest_seconds" not in found


@pytest.mark.parametrize("address", ["/", "/api/v1/events"])
def test_an_outage_that_somebody_noticed_is_counted(
    maya: User, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(maya)
    grown = Growth()

    def refuse(*_: Any) -> None:
        raise OperationalError("The server is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(CursorWrapper, "execute", refuse)
        answer = client.get(address)

    assert answer.status_code == 503
    assert grown.of("ioa_database_outages_total") == 1
