"""Around every request: its story for logs and ledger, a span, and two numbers at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

from resources.api.base import story_of
from resources.observability import correlation, metrics, spans
from resources.observability.correlation import CurrentRequest

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


@sync_and_async_middleware
def observe(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Watch a request from outside all other middleware."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            with observed(request) as asked:
                response = await get_response(request)
                asked.status = response.status_code
            return response

        return answer_later

    def answer(request: HttpRequest) -> Any:
        with observed(request) as asked:
            response = get_response(request)
            asked.status = response.status_code
        return response

    return answer


@contextmanager
def observed(request: HttpRequest) -> Iterator[CurrentRequest]:
    """Tell what happens inside as the story of a request, and count it."""
    method = request.method if request.method in METHODS else "other"
    asked = CurrentRequest(str(method), request.path, story_of(request))
    token, began = correlation.asked.set(asked), time.perf_counter()
    try:
        with spans.span("request", **{"http.request.method": method}) as span:
            yield asked
            route = route_of(request)
            if span is not None:
                span.update_name(f"{method} {route}")
                span.set_attribute("http.route", route)
                span.set_attribute("http.response.status_code", asked.status)
        metrics.REQUESTS.labels(method, route, f"{(asked.status or 0) // 100}xx").inc()
        metrics.REQUEST_SECONDS.labels(route).observe(time.perf_counter() - began)
    finally:
        correlation.asked.reset(token)


def route_of(request: HttpRequest) -> str:
    """Return the name of the address that was asked for: there are as many as we have written."""
    found = request.resolver_match
    if found is not None:
        return found.view_name or "unnamed"
    return "static" if request.path.startswith(f"/{settings.STATIC_URL.strip('/')}/") else "none"
