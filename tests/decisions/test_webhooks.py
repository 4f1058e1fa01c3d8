"""Calls to outside machines: signed, only to public addresses, never longer than allowed."""

from __future__ import annotations

import socket
import time
from datetime import timedelta
from threading import Timer
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from controllers.models import Endpoint
from controllers.operations import webhooks
from controllers.operations.webhooks import Reply
from tests.conftest import Clock
from tests.decisions.listening import BODY, KEY, NEW, OLD, call, listening, settle


@pytest.fixture
def loopback(settings: Any) -> None:
    """Let calls go to this machine."""
    settings.WEBHOOKS_ALLOW_LOOPBACK = True


@pytest.mark.usefixtures("loopback")
def test_a_call_is_signed_and_carries_its_key() -> None:
    with listening("ok") as server:
        reply = call(server.url)

    assert reply == Reply(200, ok=True, definite=True, detail="It answered 200.")
    ((headers, body),) = server.received
    assert Webhook(NEW).verify(body, headers) == BODY
    assert headers["webhook-id"] == KEY
    assert headers["user-agent"] == "IOA-Control"
    with pytest.raises(WebhookVerificationError):
        Webhook(OLD).verify(body, headers)


@pytest.mark.usefixtures("loopback")
def test_while_a_secret_is_replaced_both_verify() -> None:
    with listening("ok") as server:
        call(server.url, keys=(NEW, OLD))

    ((headers, body),) = server.received
    for key in (OLD, NEW):
        assert Webhook(key).verify(body, headers) == BODY


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize(
    ("mode", "ok", "definite"),
    [
        ("200", True, True),
        ("204", True, True),
        ("redirect", False, True),
        ("400", False, True),
        ("404", False, True),
        ("429", False, True),
        ("500", False, False),
        ("503", False, False),
    ],
)
def test_a_status_tells_what_is_known(mode: str, ok: bool, definite: bool) -> None:
    with listening(mode) as server:
        reply = call(server.url)

    assert (reply.ok, reply.definite) == (ok, definite)
    assert len(server.received) == 1, "it was called more than once, or a redirect was followed"


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("mode", ["hang", "drip"])
def test_a_slow_answer_ends_at_the_deadline_and_leaves_the_outcome_open(mode: str) -> None:
    """F10: the deadline is for the whole call, not for each byte."""
    with listening(mode) as server:
        began = time.monotonic()
        reply = call(server.url, seconds=1.5)
        took = time.monotonic() - began

    assert reply[:3] == (None, False, False)
    assert "in time" in reply.detail
    # The machine that runs this may be busy; whoever waited for an answer would for half a minute.
    assert 1.4 < took < 10
    assert len(server.received) == 1


@pytest.mark.usefixtures("loopback")
def test_a_call_that_ends_before_its_watch_has_rung_still_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine the watch may ring late: the session's own time-out ends the call."""
    monkeypatch.setattr(webhooks, "Timer", lambda seconds, ring: Timer(seconds + 60, ring))
    with listening("hang") as server:
        reply = call(server.url, seconds=0.3)

    assert reply[:3] == (None, False, False)
    assert "in time" in reply.detail


@pytest.mark.usefixtures("loopback")
def test_an_answer_counts_although_its_body_drips() -> None:
    with listening("drip_body") as server:
        began = time.monotonic()
        reply = call(server.url, seconds=0.6)

    assert reply[:3] == (200, True, True)
    assert time.monotonic() - began < 10


@pytest.mark.usefixtures("loopback")
def test_a_flood_is_not_swallowed() -> None:
    with listening("flood") as server:
        reply = call(server.url)
        written = settle(server)

    assert reply[:3] == (200, True, True)
    # What was written beyond the cap filled buffers of the system.
    assert written < 16 * 1024 * 1024


@pytest.mark.usefixtures("loopback")
def test_a_line_cut_after_sending_leaves_the_outcome_open() -> None:
    with listening("reset") as server:
        reply = call(server.url)

    assert reply[:3] == (None, False, False)
    assert "broke" in reply.detail
    assert len(server.received) == 1


@pytest.mark.usefixtures("loopback")
def test_a_refused_connection_is_definite() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        reply = call(f"http://127.0.0.1:{taken.getsockname()[1]}/")

    assert reply == Reply(None, ok=False, definite=True, detail="It could not be reached.")


@pytest.mark.usefixtures("loopback")
def test_nothing_begins_after_the_deadline() -> None:
    with listening("ok") as server:
        for seconds in (0, -1):
            reply = call(server.url, seconds=seconds)
            assert reply[:3] == (None, False, True)

    assert server.received == []


@pytest.mark.usefixtures("loopback")
def test_nothing_is_sent_when_the_time_is_over_before_the_line_is_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve = socket.getaddrinfo

    def slow(*given: Any, **options: Any) -> Any:
        time.sleep(0.3)
        return resolve(*given, **options)

    with listening("ok") as server:
        monkeypatch.setattr(socket, "getaddrinfo", slow)
        reply = call(server.url, seconds=0.1)

    assert reply[:3] == (None, False, True)
    assert server.received == []


@pytest.mark.usefixtures("loopback")
def test_a_message_that_is_too_long_is_not_sent() -> None:
    with listening("ok") as server:
        assert call(server.url, text="x" * (20 * 1024 - len('{"text":""}'))).ok
        reply = call(server.url, text="x" * (20 * 1024 - len('{"text":""}') + 1))

    assert reply[:3] == (None, False, True)
    assert "20481 bytes" in reply.detail
    assert len(server.received) == 1


def test_a_secret_that_cannot_be_read_stops_the_call(clock: Clock) -> None:
    broken = Endpoint(name="ops", url="https://hooks.example/", secret="plain")
    deadline = clock.now + timedelta(seconds=5)

    reply = webhooks.call(broken, BODY, key=KEY, deadline=deadline, now=clock.now)

    assert reply[:3] == (None, False, True)
    assert "cannot be read" in reply.detail
