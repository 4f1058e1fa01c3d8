"""Messages get out: in order, at least once, and a service that is down harms only itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from controllers.common import secrets
from controllers.engine.terms import Severity
from controllers.models import Alert, Channel, Delivery
from controllers.notifications import alerts, delivery
from controllers.notifications.delivery import sender, services
from controllers.notifications.delivery.outbox import digest
from controllers.workqueue.cycle_effects import Notice
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.decisions import making
from tests.decisions.mailing import Service, drain, running, send
from tests.resources.racing import Background, together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def near(settings: Any) -> None:
    """Let messages go to this machine."""
    settings.WEBHOOKS_ALLOW_LOOPBACK = True


@pytest.fixture(autouse=True)
def own_lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give every test lanes of its own, and end with none under way."""
    monkeypatch.setattr(sender, "lanes", {})
    yield
    drain()


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as server:
        yield server


@pytest.fixture
def other() -> Iterator[Service]:
    with running() as server:
        yield server


def tell(clock: Clock, title: str, channel: str = "ops", **given: Any) -> None:
    """Tell something that nobody told before."""
    words = {"body": "It is so.", "severity": "warning", "key": f"{channel}/{title}"} | given
    delivery.tell(channel, title=title, now=clock.now, **words)


def only() -> Delivery:
    return Delivery.objects.get()


def states() -> list[str]:
    return list(Delivery.objects.order_by("pk").values_list("state", flat=True))


def test_a_message_gets_to_the_service_behind_its_channel(clock: Clock, service: Service) -> None:
    service.channel(clock)
    tell(clock, "The harbour is closed", severity="critical")

    assert send(clock) == 1

    [arrived] = service.arrived
    assert (arrived["title"], arrived["message"]) == ("The harbour is closed", "It is so.")
    assert (arrived["type"], arrived["key"]) == ("failure", digest("ops/The harbour is closed"))
    row = only()
    assert (row.state, row.attempts, row.error, row.claimed_until) == ("sent", 1, "", None)
    assert row.sent_at is not None
    assert send(clock) == 0
    assert len(service.arrived) == 1


def test_the_same_message_is_told_once(clock: Clock, service: Service) -> None:
    service.channel(clock)
    tell(clock, "First", key="same")
    tell(clock, "Second", key="same")
    send(clock)
    tell(clock, "Third", key="same")
    send(clock)

    assert service.titles == ["First"]
    assert Delivery.objects.count() == 1


def test_a_message_is_only_told_if_what_it_is_about_happened(clock: Clock) -> None:
    with transaction.atomic():
        tell(clock, "It happened")
        transaction.set_rollback(True)

    assert not Delivery.objects.exists()


@pytest.mark.parametrize("how", ["unmapped", "disabled", "nameless"])
def test_what_no_service_takes_stays_in_the_product(
    clock: Clock, service: Service, how: str
) -> None:
    if how == "disabled":
        service.channel(clock, enabled=False)
    tell(clock, "Nobody listens", channel="" if how == "nameless" else "ops")

    assert send(clock) == 0

    assert (only().state, only().attempts) == ("in_app", 0)
    assert service.arrived == []


def test_messages_of_a_channel_arrive_in_the_order_they_were_told(
    clock: Clock, service: Service
) -> None:
    service.channel(clock)
    for title in ("one", "two", "three", "four"):
        tell(clock, title)
        clock.advance(milliseconds=1)

    assert send(clock, most=3) == 3
    assert send(clock) == 1

    assert service.titles == ["one", "two", "three", "four"]


def test_a_service_that_is_down_for_a_while_loses_nothing_and_keeps_the_order(
    clock: Clock, service: Service
) -> None:
    service.channel(clock)
    service.status = 503
    tell(clock, "one")
    tell(clock, "two")
    assert send(clock) == 0
    first, second = Delivery.objects.order_by("pk")
    assert (first.state, first.attempts, first.error) == (
        "waiting",
        1,
        "The service answered 503.",
    )
    assert timedelta(seconds=4.9) < first.run_at - clock.now < timedelta(seconds=7)
    assert second.attempts == 0
    channel = Channel.objects.get()
    assert (channel.error, channel.failed_at is not None) == ("The service answered 503.", True)

    service.status = 200
    tell(clock, "three")
    assert send(clock) == 0, "It waits before it tries again, and nobody overtakes."
    clock.advance(seconds=8)
    assert send(clock) == 3

    assert service.titles == ["one", "two", "three"]
    assert Channel.objects.get().failed_at is None
    assert states() == ["sent"] * 3


def test_a_message_that_is_never_taken_does_not_keep_the_others(
    clock: Clock, service: Service
) -> None:
    service.channel(clock)
    service.refuses = {"poison"}
    tell(clock, "poison")
    tell(clock, "news")
    for _ in range(3):
        send(clock)
        assert service.titles == []
        clock.advance(seconds=12)
    send(clock)

    assert service.titles == ["news"]
    assert states() == ["waiting", "sent"]


def test_it_tries_twelve_times_ever_later_and_then_says_so_in_the_product(
    clock: Clock, service: Service
) -> None:
    service.channel(clock)
    service.status = 500
    tell(clock, "In vain")
    waits = []
    for _ in range(sender.ATTEMPTS):
        send(clock)
        row = Delivery.objects.get(key=digest("ops/In vain"))
        waits.append(row.run_at - clock.now)
        clock.now = row.run_at + timedelta(seconds=1)

    row.refresh_from_db()
    assert (row.state, row.attempts) == ("given_up", 12)
    assert waits[0] < timedelta(seconds=7)
    assert max(waits) <= timedelta(minutes=11.1)
    assert timedelta(minutes=10) <= waits[-2]
    notice = Delivery.objects.exclude(pk=row.pk).get()
    assert (notice.state, notice.severity) == ("in_app", "error")
    assert notice.title == "Not delivered to ops: In vain"
    assert "12 times" in notice.body
    assert service.arrived == []


def test_a_service_that_hangs_holds_neither_the_caller_nor_the_others(
    clock: Clock, service: Service, other: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-48"""
    monkeypatch.setattr(sender, "BUDGET_SECONDS", 0.3)
    service.channel(clock, "slow")
    other.channel(clock, "quick")
    service.free.clear()
    tell(clock, "one", "slow")
    for title in ("one", "two"):
        tell(clock, title, "quick")

    began = time.monotonic()
    sender.send_due(clock.now)
    tell(clock, "three", "quick")
    sender.lanes["quick"].join(20)
    sender.send_due(clock.now)
    lasted = time.monotonic() - began
    # On a busy machine one message may use up the whole turn of its lane.
    for _ in range(3):
        sender.lanes["quick"].join(20)
        sender.send_due(clock.now)
    sender.lanes["quick"].join(20)

    assert other.titles == ["one", "two", "three"]
    assert lasted < 20
    assert Delivery.objects.get(channel="slow").state == "waiting"
    service.free.set()
    drain()
    assert service.titles == ["one"]
    assert Delivery.objects.get(channel="slow").state == "sent"


def test_a_service_that_never_answers_fails_by_the_deadline(
    clock: Clock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "READ_SECONDS", 0.3)
    service.channel(clock)
    service.free.clear()
    tell(clock, "Anybody?")

    send(clock)

    assert (only().state, only().error) == ("waiting", "The service could not be reached.")
    assert services.CONNECT_SECONDS + 5.0 <= sender.DEADLINE_SECONDS


def test_a_lane_that_hangs_beyond_the_deadline_counts_as_failing(
    clock: Clock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service may trickle so that no timeout of a single read ever fires."""
    monkeypatch.setattr(sender, "BUDGET_SECONDS", 0.1)
    service.channel(clock)
    service.free.clear()
    tell(clock, "Trickle")
    sender.send_due(clock.now)
    monkeypatch.setattr(sender, "DEADLINE_SECONDS", 0.0)
    clock.advance(seconds=31)

    sender.send_due(clock.now)

    assert (only().attempts, only().error) == (2, sender.SILENT)
    assert Channel.objects.get().error == sender.SILENT
    service.free.set()
    drain()
    assert only().state == "sent", "What arrived after all is not sent again."
    assert len(service.arrived) == 1


def test_telling_waits_for_no_service(clock: Clock) -> None:
    """F12: A service that is down is nobody's business but the outbox's."""
    address = secrets.encrypt("json://127.0.0.1:9/closed")
    Channel.objects.create(name="ops", address=address, changed_at=clock.now, changed_by="x")
    began = time.monotonic()
    with transaction.atomic():
        for number in range(100):
            tell(clock, f"message {number}")
    lasted = time.monotonic() - began

    assert lasted < 3
    send(clock)
    first = Delivery.objects.order_by("pk")[0]
    assert (first.state, first.error) == ("waiting", "The service could not be reached.")
    assert Delivery.objects.filter(attempts=0).count() == 99


def test_a_worker_lost_between_sending_and_recording_sends_once_more(
    clock: Clock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I3: At least once; the second copy carries the key of the first."""
    service.channel(clock)
    tell(clock, "Twice at most")
    usual = sender.record

    def lost(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sender, "record", lost)
    with pytest.raises(KeyboardInterrupt):
        sender.Lane("ops", clock.now, 50).run()
    monkeypatch.setattr(sender, "record", usual)
    assert send(clock) == 0, "The claim of the lost worker still stands."
    clock.advance(seconds=29)
    assert send(clock) == 0
    clock.advance(seconds=2)
    assert send(clock) == 1
    clock.advance(hours=1)
    assert send(clock) == 0

    assert service.titles == ["Twice at most"] * 2
    assert len({each["key"] for each in service.arrived}) == 1
    assert (only().state, only().attempts) == ("sent", 2)


@pytest.mark.postgres
def test_of_many_workers_one_sends_each_message(
    clock: Clock, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I3: Each worker has lanes of its own, as processes have."""
    service.channel(clock)
    for number in range(30):
        tell(clock, f"{number:02}")

    def work() -> int:
        lane = sender.Lane("ops", clock.now, 50)
        lane.run()
        return lane.sent

    sent = sum(together([work] * 6))
    while Delivery.objects.filter(state="waiting").exists():
        sent += work()

    assert sent == 30
    assert service.titles == [f"{number:02}" for number in range(30)]


@pytest.mark.postgres
def test_two_who_tell_the_same_at_once_tell_it_once(clock: Clock) -> None:
    def told() -> None:
        with transaction.atomic():
            tell(clock, "Once", key="same")

    together([told] * 8)

    assert Delivery.objects.count() == 1


def test_an_address_that_cannot_be_decrypted_is_a_failure_people_can_mend(
    clock: Clock, service: Service
) -> None:
    service.channel(clock, address="not a secret of ours")
    tell(clock, "Lost key")

    send(clock)

    assert (only().state, only().error) == ("waiting", sender.UNREADABLE)


def raised(
    clock: Clock, controller: Resource, about: Resource, severity: Severity = "warning"
) -> None:
    """Let a controller tell people of a drift."""
    notice = Notice(about.pk, "Drift", "ops", severity, f"{about}: it is beyond its limits.")
    with transaction.atomic():
        alerts.raise_all(controller.pk, [notice], "story", clock.now)


def test_an_alert_leaves_one_message_for_its_channel(clock: Clock, service: Service) -> None:
    service.channel(clock)
    controller, agent = making.controller(clock), making.agent(clock)
    raised(clock, controller, agent)
    raised(clock, controller, agent)
    send(clock)

    [arrived] = service.arrived
    assert arrived["title"] == "Warning: agent/scribe has drifted"
    assert arrived["message"] == "agent/scribe: it is beyond its limits."
    assert only().alert == Alert.objects.get()
    assert only().severity == "warning"


@pytest.mark.parametrize(
    ("severity", "titles"),
    [
        ("warning", ["Warning: agent/scribe has drifted"]),
        ("error", ["Error: agent/scribe has drifted", "Over: agent/scribe has drifted"]),
        ("critical", ["Critical: agent/scribe has drifted", "Over: agent/scribe has drifted"]),
    ],
)
def test_only_of_what_is_serious_people_hear_that_it_is_over(
    clock: Clock, service: Service, severity: Severity, titles: list[str]
) -> None:
    service.channel(clock)
    controller, agent = making.controller(clock), making.agent(clock)
    raised(clock, controller, agent, severity)
    for _ in range(2):
        with transaction.atomic():
            alerts.resolve(controller.pk, [agent.pk], clock.advance(seconds=1))
    send(clock)

    assert service.titles == titles
    if len(titles) > 1:
        assert service.arrived[1]["type"] == "success"


def test_incidents_are_opened_and_closed_by_the_alert_they_are_about(clock: Clock) -> None:
    controller, agent = making.controller(clock), making.agent(clock)
    raised(clock, controller, agent, "critical")
    with transaction.atomic():
        alerts.resolve(controller.pk, [agent.pk], clock.now)

    first, second = (sender.letter_of(each) for each in Delivery.objects.order_by("pk"))

    assert first.thread == second.thread
    assert (first.closes, second.closes) == (False, True)


def test_a_long_message_is_cut(clock: Clock) -> None:
    tell(clock, "x" * 1_000, body="y" * 10_000)

    assert (len(only().title), len(only().body)) == (300, 4_000)


def test_the_loop_is_woken_when_something_is_told(clock: Clock) -> None:
    from resources.store import announcements

    awake = threading.Event()
    announcements.listeners.add(awake.set)
    try:
        Background(lambda: tell(clock, "Wake up")).wait()
        assert awake.is_set()
    finally:
        announcements.listeners.discard(awake.set)
