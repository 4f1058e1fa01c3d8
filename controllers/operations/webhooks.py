"""Signed calls to outside machines: only to public addresses, and never longer than allowed.

A call is one attempt. Whoever makes it learns whether it happened, did not happen, or whether that
is not known: then the same key may be sent again, and the other side does it once.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from threading import Event, Timer
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

import orjson
import requests
from django.conf import settings
from requests_hardened import Config, HTTPSession  # type: ignore[import-untyped]
from requests_hardened.ip_filter import InvalidIPAddress  # type: ignore[import-untyped]
from requests_hardened.ip_filter_adapter import IPFilterAdapter  # type: ignore[import-untyped]
from standardwebhooks import Webhook
from urllib3.exceptions import HTTPError

from controllers.common import secrets
from controllers.models import Endpoint

MOST_SENT = 20 * 1024
MOST_READ = 64 * 1024
AGENT = "IOA-Control"
UNKNOWN = "whether it was done is not known."
# An address that no call can be made to may fail in any of these ways.
FAILURES = (requests.RequestException, HTTPError, OSError, ValueError)


class Reply(NamedTuple):
    """What is known after a call; `definite` when we know that it happened, or that it did not."""

    status: int | None
    ok: bool
    definite: bool
    detail: str


def call(
    endpoint: Endpoint, body: Mapping[str, Any], *, key: str, deadline: datetime, now: datetime
) -> Reply:
    """Send a signed message once; `deadline` is when the whole call is over, however slow."""
    text = orjson.dumps(body).decode()
    refused = objection(endpoint.url) or too_much(text)
    seconds = (deadline - now).total_seconds()
    if seconds <= 0:
        refused = "Its time was over before the call began."
    if refused:
        return not_done(refused)
    try:
        headers = signed(endpoint, key, text, now)
    except secrets.Unreadable as error:
        return not_done(str(error))
    watch = Watch(seconds)
    try:
        return send(endpoint.url, text, headers, watch)
    except FAILURES as error:
        return failed(error, watch)
    finally:
        watch.end()


def not_done(detail: str) -> Reply:
    """Answer that nothing happened."""
    return Reply(None, ok=False, definite=True, detail=detail)


def objection(url: str) -> str:
    """Say why an address cannot be called, or nothing."""
    try:
        parts = urlsplit(url)
        valid = url.isprintable() and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        return "Its address is not one."
    if parts.username is not None or parts.password is not None:
        return "Its address must not hold a name or a password."
    if parts.scheme != "https" and not near(parts):
        return "Its address must begin with https://."
    return ""


def near(parts: SplitResult) -> bool:
    """Tell whether an address is this machine's and such addresses are allowed, in development."""
    if not settings.WEBHOOKS_ALLOW_LOOPBACK or parts.scheme != "http":
        return False
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def too_much(text: str) -> str:
    """Say that a message is too long, or nothing."""
    size = len(text.encode())
    if size <= MOST_SENT:
        return ""
    return f"The message has {size} bytes; a call may carry {MOST_SENT}."


def signed(endpoint: Endpoint, key: str, text: str, now: datetime) -> dict[str, str]:
    """Make the headers of Standard Webhooks; while a secret is replaced, both sign."""
    at = now.astimezone(UTC)
    known = secrets.decrypt(endpoint.secret).split()
    signatures = [Webhook(each).sign(msg_id=key, timestamp=at, data=text) for each in known]
    return {
        "content-type": "application/json",
        "webhook-id": key,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def send(url: str, text: str, headers: dict[str, str], watch: Watch) -> Reply:
    """Make the call and judge its answer; what the other side says besides is not kept."""
    with session(watch) as out:
        answer = out.post(url, data=text.encode(), headers=headers, stream=True)
        # What was cut off in its first lines is no answer, whatever they began to say.
        timely = not watch.over.is_set()
        # Read to the end where that is near, so that the other side is not cut off.
        with suppress(*FAILURES):
            answer.raw.read(MOST_READ, decode_content=False)
        answer.close()
    return judged(answer.status_code) if timely else failed(TimeoutError(), watch)


def session(watch: Watch) -> HTTPSession:
    """Open a session that follows no redirect, asks no proxy and reaches only the public."""
    near_allowed = bool(settings.WEBHOOKS_ALLOW_LOOPBACK)
    out = HTTPSession(
        Config(
            ip_filter_enable=True,
            ip_filter_allow_loopback_ips=near_allowed,
            never_redirect=True,
            default_timeout=(watch.seconds, watch.seconds),
            user_agent_override=AGENT,
        )
    )
    out.trust_env = False
    for scheme, secure in (("https://", True), ("http://", False)):
        out.mount(scheme, Watched(watch, is_https_proto=secure, allow_loopback=near_allowed))
    return out


def judged(status: int) -> Reply:
    """Say what a status tells about what happened."""
    if 200 <= status < 300:
        return Reply(status, ok=True, definite=True, detail=f"It answered {status}.")
    if 300 <= status < 400:
        said = f"It answered {status}; redirects are not followed."
        return Reply(status, ok=False, definite=True, detail=said)
    if 400 <= status < 500:
        return Reply(status, ok=False, definite=True, detail=f"It refused with {status}.")
    said = f"It failed with {status}; {UNKNOWN}"
    return Reply(status, ok=False, definite=False, detail=said)


def failed(error: Exception, watch: Watch) -> Reply:
    """Say what a call without an answer tells: before anything was sent, nothing happened."""
    if watch.sent:
        # The session counts its own seconds, and may be done with them a moment before the watch.
        late = watch.over.is_set() or isinstance(error, requests.Timeout | TimeoutError)
        cause = "No answer came in time" if late else "The connection broke"
        return Reply(None, ok=False, definite=False, detail=f"{cause}; {UNKNOWN}")
    if isinstance(error, InvalidIPAddress):
        return not_done("Its address is not a public one.")
    if isinstance(error, requests.exceptions.SSLError):
        return not_done("Its certificate is not to be trusted.")
    return not_done("It could not be reached.")


class Watch:
    """Ends a call when its time is over, and knows whether anything was sent."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.sent, self.over = seconds, False, Event()
        self.handles: list[socket.socket] = []
        self.timer = Timer(seconds, self.cut)
        self.timer.daemon = True
        self.timer.start()

    def keep(self, connection: socket.socket) -> socket.socket:
        """Keep a second handle of a connection: the first one disappears into TLS."""
        self.handles.append(connection.dup())
        if self.over.is_set():
            connection.close()
            raise TimeoutError
        return connection

    def cut(self) -> None:
        """Cut the connections, so that whoever waits for them wakes up."""
        self.over.set()
        for handle in self.handles:
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Stop watching."""
        self.timer.cancel()
        for handle in self.handles:
            handle.close()


class Watched(IPFilterAdapter):  # type: ignore[misc]
    """Opens connections to public addresses only, and lets a watch hold on to them."""

    def __init__(self, watch: Watch, **options: bool) -> None:
        self.watch = watch
        super().__init__(**options)

    def get_connection_with_tls_context(self, *given: Any, **options: Any) -> Any:
        """Return the pool of an address; what it opens is watched."""
        pool = super().get_connection_with_tls_context(*given, **options)
        pool.ConnectionCls = watched(pool.ConnectionCls, self.watch)
        return pool


def watched(connections: Any, watch: Watch) -> Any:
    """Make a kind of connection that tells a watch when it is open and when it sends."""

    class Connection(connections):  # type: ignore[misc]
        def _new_conn(self) -> socket.socket:
            return watch.keep(super()._new_conn())

        def send(self, data: Any) -> None:
            if self.sock is None:
                self.connect()
            watch.sent = True
            super().send(data)

    return Connection
