"""What a call of the API costs, through everything the product puts in its way, or bare."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory
from django.utils import timezone

from bench import meter, world
from bench.meter import Readings
from bench.subjects import database
from resources.usecases import tokens

AGENT = "agent-000001"
LISTED = 50
# Calls before anything is counted: what is compiled once is no part of a call.
WARM = 20
MERGE = "application/merge-patch+json"
SCOPES = ("resources:read", "status:write")


def ask(what: str, times: int, bare: bool = False) -> Readings:
    """Make the same call over and over, and return what one of them took."""
    lifetime = timedelta(days=1)
    issued = tokens.issue(
        AGENT, scopes=SCOPES, lifetime=lifetime, actor=world.PERSON, now=timezone.now()
    )
    if bare:
        # It needs none of them: no session, no signed-in person, no page.
        settings.ROOT_URLCONF, settings.MIDDLEWARE = "bench.bare", []
    make = {"list": list_some, "report": report}[what](f"Bearer {issued.text}")
    handler = WSGIHandler()
    for number in range(WARM):
        call(handler, make(number))
    with meter.measured(database()) as found:
        for number in range(times):
            call(handler, make(number + WARM))
    return {name: value / times for name, value in found.items()}


def call(handler: WSGIHandler, request: Any) -> None:
    """Make one call; an answer that is not good is no measurement."""
    answer = handler.get_response(request)
    # As a web server would: rendering and what follows are part of the call.
    body = b"".join(answer)
    answer.close()
    if answer.status_code != 200:
        raise RuntimeError(f"A call was answered {answer.status_code}: {body[:200]!r}")


def list_some(token: str) -> Callable[[int], Any]:
    """Return what makes requests for a list."""
    factory = RequestFactory(SERVER_NAME="localhost", headers={"authorization": token})
    return lambda number: factory.get(f"/api/v1/resources/agent?limit={LISTED}")


def report(token: str) -> Callable[[int], Any]:
    """Return what makes reports, each of something new."""
    factory = RequestFactory(SERVER_NAME="localhost", headers={"authorization": token})
    address = f"/api/v1/resources/agent/{AGENT}/status"

    def make(number: int) -> Any:
        body = orjson.dumps({"queueLength": number})
        return factory.patch(address, body, content_type=MERGE)

    return make
