"""Administrators say which services stand behind channels; nobody reads an address again."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from controllers.common import secrets
from controllers.models import Channel, Delivery
from controllers.notifications import delivery
from controllers.notifications.delivery import services
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.mailing import Service, running
from tests.decisions.making import agent, controller, person, proposal
from tests.problems import refuses
from tests.rows import every_row

pytestmark = pytest.mark.django_db

SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


@pytest.fixture
def ada(clock: Clock) -> User:
    return person(clock, "ada", "administrator")


@pytest.fixture
def service(settings: Any) -> Iterator[Service]:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    with running() as server:
        yield server


def test_an_address_is_kept_encrypted_and_only_its_end_is_shown(clock: Clock, ada: User) -> None:
    """I20: Secrets never leave."""
    channel = delivery.map_channel("slack-ops", f" {SLACK}\n", person=ada, now=clock.now)

    assert (channel.hint, channel.enabled) == ("slack://…i7FQ", True)
    assert (channel.changed_by, channel.changed_at) == ("person/ada", clock.now)
    assert "TIiajkdn" not in channel.address
    assert secrets.decrypt(channel.address) == SLACK
    [event] = LedgerEvent.objects.filter(event="channel.mapped")
    assert (event.actor, event.subject) == ("person/ada", "channel/slack-ops")
    assert event.payload == {"hint": "slack://…i7FQ"}


def test_a_channel_mapped_anew_starts_with_a_clean_record(clock: Clock, ada: User) -> None:
    delivery.map_channel("slack-ops", SLACK, person=ada, now=clock.now)
    Channel.objects.update(failed_at=clock.now, error="The service answered 404.", enabled=False)

    later = clock.advance(minutes=1)
    channel = delivery.map_channel("slack-ops", f"{SLACK[:-4]}abcd", person=ada, now=later)

    assert Channel.objects.count() == 1
    assert (channel.hint, channel.enabled) == ("slack://…abcd", True)
    assert (channel.failed_at, channel.error, channel.changed_at) == (None, "", later)


def test_an_unmapped_channel_is_gone(clock: Clock, ada: User) -> None:
    delivery.map_channel("slack-ops", SLACK, person=ada, now=clock.now)
    delivery.unmap_channel("slack-ops", person=ada, now=clock.now)

    assert not Channel.objects.exists()
    assert LedgerEvent.objects.filter(event="channel.unmapped").count() == 1
    with refuses("not-found", match="No service stands behind 'slack-ops'"):
        delivery.unmap_channel("slack-ops", person=ada, now=clock.now)


def test_a_test_goes_the_way_of_all_messages(clock: Clock, ada: User, service: Service) -> None:
    delivery.map_channel("ops", service.address, person=ada, now=clock.now)

    told = delivery.test_channel("ops", person=ada, now=clock.now)
    assert (told.state, service.arrived) == ("waiting", [])
    sent = delivery.send_one(told.pk, clock.now)

    assert sent.state == "sent"
    assert service.titles == ["Test of ops"]
    assert "ada tried" in service.arrived[0]["message"]
    assert LedgerEvent.objects.filter(event="channel.tested").count() == 1
    with refuses("not-found"):
        delivery.test_channel("nobody", person=ada, now=clock.now)


@pytest.mark.parametrize("role", ["viewer", "operator", "approver", "auditor"])
def test_only_administrators_look_after_channels(clock: Clock, ada: User, role: str) -> None:
    somebody = person(clock, "somebody", role)
    delivery.map_channel("ops", SLACK, person=ada, now=clock.now)

    for attempt in (
        lambda: delivery.map_channel("ops", SLACK, person=somebody, now=clock.now),
        lambda: delivery.unmap_channel("ops", person=somebody, now=clock.now),
        lambda: delivery.test_channel("ops", person=somebody, now=clock.now),
    ):
        with refuses("forbidden", match="Only administrators"):
            attempt()
    assert Channel.objects.get().changed_by == "person/ada"
    assert not Delivery.objects.exists()


def test_an_administrator_of_a_domain_is_none_of_the_organisation(clock: Clock) -> None:
    somebody = person(clock, "somebody", "administrator", domain="growth")

    with refuses("forbidden"):
        delivery.map_channel("ops", SLACK, person=somebody, now=clock.now)


@every_row(
    ("address", "why"),
    [
        ("", "Give the service's address"),
        (f"{SLACK}\nx", "Give the service's address"),
        ("slack://" + "x" * 2_000, "Give the service's address"),
        ("slack://", "slack"),
        ("not an address", "is not a service"),
        ("file:///etc/passwd", "'file' is not a service"),
        ("exec:///bin/true", "'exec' is not a service"),
        ("windows://", "is not a service"),
        ("dbus://", "is not a service"),
        ("syslog://localhost", "is not a service"),
        ("https://example.com/hook", "is not a service"),
        ("apprises://example.com/token", "is not a service"),
        (f"{SLACK}?template=/etc/passwd", "must not name files"),
        (
            "mailtos://u:p@example.com?smtp=192.0.2.1&pgp=yes&pgppub=/etc/passwd",
            "must not name files",
        ),
        ("json://192.0.2.1/hook", "Use the encrypted form"),
        ("xml://198.51.100.7/hook", "Use the encrypted form"),
        ("json://host.invalid/hook", "Use the encrypted form"),
        ("jsons://127.0.0.1/hook", "this machine"),
        ("jsons://localhost/hook", "this machine"),
        ("jsons://[::1]/hook", "this machine"),
        ("jsons://2130706433/hook", "this machine"),
        ("mailto://u:p@example.com?smtp=127.0.0.1", "this machine"),
        ("jsons://169.254.169.254/latest/meta-data", "of the network itself"),
        ("jsons://0.0.0.0/hook", "of the network itself"),
    ],
    rolled_back=True,
)
def test_an_address_that_could_do_harm_is_refused(
    clock: Clock, ada: User, address: str, why: str
) -> None:
    with refuses("invalid", match=why):
        delivery.map_channel("ops", address, person=ada, now=clock.now)

    assert not Channel.objects.exists()
    assert not LedgerEvent.objects.filter(event="channel.mapped").exists()


@pytest.mark.parametrize(
    "address",
    [
        SLACK,
        "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
        "pagerduty://A1BRTD4JD@8c0b7ef93ef94df09c13d29e1d0de1b5",
        "opsgenie://8c0b7ef9-3ef9-4df0-9c13-d29e1d0de1b5",
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "tgram://123456789:abcdefg_hijklmnop/12315544/",
        "mailtos://user:word@example.com?smtp=192.0.2.1&to=ops@example.com",
        "ntfys://192.0.2.1/topic",
        "jsons://192.0.2.1/hook",
        "jsons://10.1.2.3:8443/hook",
        "xmls://192.0.2.1/hook",
    ],
)
def test_services_out_there_are_accepted(clock: Clock, ada: User, address: str) -> None:
    channel = delivery.map_channel("ops", address, person=ada, now=clock.now)

    assert channel.hint.partition("://…")[2] in address


def test_a_wrong_address_is_quoted_in_no_log(clock: Clock, ada: User) -> None:
    """I20: Apprise itself would write the whole address, password and all."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    try:
        with refuses("invalid") as refused:
            delivery.map_channel("ops", "mailtos://u:hunter2@192.0.2.1", person=ada, now=clock.now)
    finally:
        logging.getLogger().removeHandler(handler)

    assert "hunter2" not in " ".join([*said, str(refused.value)])


@pytest.mark.parametrize("name", ["", " ops", "ops ", "o\nps", "x" * 254])
def test_a_name_that_no_document_could_use_is_refused(clock: Clock, ada: User, name: str) -> None:
    with refuses("invalid", match="A channel's name"):
        delivery.map_channel(name, SLACK, person=ada, now=clock.now)


def test_a_service_is_checked_again_when_it_is_sent_to(
    clock: Clock, ada: User, service: Service, settings: Any
) -> None:
    """A name that led elsewhere when it was entered may lead here later."""
    delivery.map_channel("ops", service.address, person=ada, now=clock.now)
    settings.WEBHOOKS_ALLOW_LOOPBACK = False
    told = delivery.test_channel("ops", person=ada, now=clock.now)

    sent = delivery.send_one(told.pk, clock.now)

    assert (sent.state, sent.error) == ("waiting", "Messages are not sent to this machine itself.")
    assert service.arrived == []


def test_no_service_leads_a_message_elsewhere(clock: Clock, ada: User, service: Service) -> None:
    service.status = 307
    address = f"{service.address}?redirect=yes&cto=60&rto=600"
    delivery.map_channel("ops", address, person=ada, now=clock.now)
    told = delivery.test_channel("ops", person=ada, now=clock.now)

    sent = delivery.send_one(told.pk, clock.now)

    assert (sent.state, sent.error) == ("waiting", "The service answered 307.")
    _, opened = services.opened(address)
    assert (opened.socket_connect_timeout, opened.socket_read_timeout) == (4.0, 5.0)


LISTS = ("channel", "delivery", "proposal", "hold", "grant")


def signed_in(user: User) -> Client:
    user.is_staff = True
    user.save()
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def rows(clock: Clock, ada: User) -> None:
    """One row of each sort."""
    from controllers.models import Hold

    delivery.map_channel("slack-ops", SLACK, person=ada, now=clock.now)
    delivery.tell("", title="Hello", body="World", severity="info", key="x", now=clock.now)
    proposal(clock, agent(clock), controller(clock))
    Hold.objects.create(
        kind="stop", scope="organisation", reason="Drill", author="person/ada",
        placed_at=clock.now, epoch=1,
    )  # fmt: skip


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("role", ["administrator", "auditor"])
def test_those_who_oversee_read_everything_in_the_admin_and_write_nothing(
    clock: Clock, role: str, name: str
) -> None:
    client = signed_in(person(clock, "overseer", role))
    listed = client.get(reverse(f"admin:controllers_{name}_changelist"))
    row = listed.context["cl"].result_list[0]
    change = reverse(f"admin:controllers_{name}_change", args=[row.pk])
    shown = client.get(change)

    assert (listed.status_code, shown.status_code) == (200, 200)
    assert b"TIiajkdn" not in listed.content + shown.content
    assert Channel.objects.get().address.encode() not in listed.content + shown.content
    assert client.post(change, {}).status_code == 403
    assert client.post(reverse(f"admin:controllers_{name}_add"), {}).status_code == 403
    gone = client.post(reverse(f"admin:controllers_{name}_delete", args=[row.pk]), {"post": "yes"})
    assert gone.status_code == 403
    history = client.get(reverse(f"admin:controllers_{name}_history", args=[row.pk]))
    assert history.headers["Location"] == change


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("role", ["viewer", "operator", "approver"])
def test_others_do_not_read_them_there(clock: Clock, role: str) -> None:
    client = signed_in(person(clock, "somebody", role))

    for name in LISTS:
        answer = client.get(reverse(f"admin:controllers_{name}_changelist"))
        assert answer.status_code == 403


@pytest.mark.usefixtures("rows")
def test_what_fails_is_seen_in_the_list(clock: Clock, ada: User) -> None:
    Channel.objects.update(failed_at=clock.now, error="The service answered 404.")

    page = signed_in(ada).get(reverse("admin:controllers_channel_changelist"))

    assert b"slack://\xe2\x80\xa6i7FQ" in page.content
    assert b"The service answered 404." in page.content


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("name", LISTS)
def test_the_lists_survive_odd_searches(ada: User, name: str) -> None:
    client = signed_in(ada)
    for query in ({"q": "\x00"}, {"q": "'\"%"}, {"state": "\x00"}, {"state__exact": "zz"}):
        answer = client.get(reverse(f"admin:controllers_{name}_changelist"), query)
        assert answer.status_code in (200, 302), query
