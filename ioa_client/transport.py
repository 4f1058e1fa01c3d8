"""One call over HTTP: its address, its body, its answer, and when to try again."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from random import SystemRandom
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ioa_client.errors import Problem, Unreachable, problem_of

Document = dict[str, Any]
Query = Mapping[str, str | int | bool | None]

PREFIX = "/api/v1"
# Answers after which nothing was written, and another try may succeed.
AGAIN = (429, 503)
SAFE_TO_REPEAT = ("GET", "PUT", "PATCH", "DELETE")
FIRST_REST, LONGEST_REST = 0.2, 5.0
BROKEN = (urllib.error.URLError, http.client.HTTPException, OSError)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves redirects alone: a token goes to nobody but the product."""

    def redirect_request(self, *_: Any) -> None:
        """Return nothing, so that the answer comes back as it is."""


@dataclass
class Transport:
    """The way to one product with one token; a call is tried `attempts` times, for `patience`."""

    url: str
    token: str = field(repr=False)
    timeout: float = 30.0
    attempts: int = 4
    patience: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    streams: set[http.client.HTTPResponse] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Refuse an address that is none; no proxy stands between a machine and itself."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.url!r} is not an http address.")
        self.url = self.url.rstrip("/")
        proxy = urllib.request.ProxyHandler({} if loopback(parts.hostname) else None)
        self.opener = urllib.request.build_opener(proxy, NoRedirect)

    def call(
        self,
        method: str,
        path: str,
        body: Document | None = None,
        *,
        query: Query | None = None,
        create: bool = False,
        waits: float = 0.0,
    ) -> Any:
        """Return what the product answers; `create` names the request once for all tries."""
        key = {"Idempotency-Key": str(uuid.uuid4())} if create else {}
        request = self.request(method, path, body, query, key)
        repeatable = create or method in SAFE_TO_REPEAT
        ends, rest = time.monotonic() + self.patience, FIRST_REST
        for left in reversed(range(self.attempts)):
            try:
                return self.once(request, self.timeout + waits)
            except Problem as problem:
                pause = rest if problem.retry_after is None else problem.retry_after
                if problem.status not in AGAIN or not self.may_wait(left, pause, ends):
                    raise
            except Unreachable:
                pause = rest
                if not repeatable or not self.may_wait(left, pause, ends):
                    raise
            self.sleep(pause + SystemRandom().random() * FIRST_REST)
            rest = min(2 * rest, LONGEST_REST)
        raise AssertionError("The last try returns or raises.")

    def may_wait(self, left: int, pause: float, ends: float) -> bool:
        """Tell whether another try comes before patience ends."""
        return left > 0 and time.monotonic() + pause < ends

    def request(
        self,
        method: str,
        path: str,
        body: Document | None,
        query: Query | None,
        headers: Mapping[str, str],
    ) -> urllib.request.Request:
        """Write a request."""
        data = None if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        content = {} if data is None else {"Content-Type": kind}
        sent = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        return urllib.request.Request(  # noqa: S310 - the scheme was checked
            f"{self.url}{PREFIX}/{path}{written(query)}",
            data,
            {**sent, **content, **headers},
            method=method,
        )

    def once(self, request: urllib.request.Request, timeout: float) -> Any:
        """Send a request once."""
        try:
            with self.opener.open(request, timeout=timeout) as answer:
                body = answer.read()
                return json.loads(body) if body else {}
        except urllib.error.HTTPError as error:
            with error:
                raise problem_of(error.code, dict(error.headers), error.read()) from None
        except BROKEN as error:
            raise Unreachable(f"{self.url} does not answer: {error}.") from error
        except ValueError as error:
            raise Unreachable(f"{self.url} did not answer in JSON.") from error

    def stream(self, path: str, query: Query, headers: Mapping[str, str]) -> Any:
        """Open an answer that goes on; whoever opened it closes it."""
        request = self.request("GET", path, None, query, headers)
        try:
            answer = self.opener.open(request, timeout=self.timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise problem_of(error.code, dict(error.headers), error.read()) from None
        except BROKEN as error:
            raise Unreachable(f"{self.url} does not answer: {error}.") from error
        self.streams.add(answer)
        return answer

    def close(self) -> None:
        """Close every stream that is open."""
        while self.streams:
            self.streams.pop().close()


def place(*parts: str | int) -> str:
    """Write a path; a name never reaches beyond its own part."""
    return "/".join(quote(str(part), safe="") for part in parts)


def written(query: Query | None) -> str:
    """Write the parameters that are given."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    spelled = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in given.items()
    }
    return f"?{urlencode(spelled)}" if spelled else ""


def loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def said(**given: Any) -> Document:
    """Leave out what is not given."""
    return {name: value for name, value in given.items() if value is not None}
