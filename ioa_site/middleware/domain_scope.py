"""Around every request of a person: what they hold is read once, and narrows what is read.

Reading is narrowed by the tables' managers. What is written goes through use cases, which ask for
roles where they act and must know more than the one who asks: there only the pages and finders
around them are narrowed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from ioa_site.middleware import refusal_log
from resources.api.problems import respond
from resources.documents.problems import missing
from resources.tables import visibility
from resources.tables.visibility import Scope
from resources.usecases import access
from resources.usecases.access_rules import rule_for, rules_of

API = "/api/"
SAFE = ("GET", "HEAD", "OPTIONS")


@sync_and_async_middleware
def see(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Let a person see what lies in their domains."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            scope = await sync_to_async(scope_for)(request)
            with visibility.within(scope):
                response = await get_response(request)
                if refusal_log.is_refused(request, response):
                    await sync_to_async(refusal_log.note)(request, response)
                return streamed(response, scope)

        answer_later.process_view = check  # type: ignore[attr-defined]
        return answer_later

    def answer(request: HttpRequest) -> Any:
        scope = scope_for(request)
        with visibility.within(scope):
            response = get_response(request)
            if refusal_log.is_refused(request, response):
                refusal_log.note(request, response)
            return streamed(response, scope)

    answer.process_view = check  # type: ignore[attr-defined]
    return answer


def check(request: HttpRequest, view: Any, args: Any, named: Any) -> HttpResponseBase | None:
    """Answer 404 where a view says no rights, and to people for whom there is nothing."""
    if rules_of(view) is None:
        return absent(request)
    rule = rule_for(view, str(request.method))
    held: Scope | None = getattr(request, "held", None)
    if rule is None or held is None:
        return None
    request.is_let_in = True  # type: ignore[attr-defined]
    missing = (rule.who == "whole" and not held.is_whole) or (
        rule.who == "member" and not held.held
    )
    return absent(request) if missing else None


def absent(request: HttpRequest) -> HttpResponseBase:
    """Say that there is nothing here, to programs as a problem."""
    if request.path.startswith(API):
        return respond(missing("There is nothing here."))
    raise Http404("There is nothing here.")


def scope_for(request: HttpRequest) -> Scope | None:
    """Read what a person holds; return it where it narrows what a request reads."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
        return None
    held = access.keep_scope(request.user)
    if "Authorization" not in request.headers:
        # Not `scope`: under ASGI a request has one of another sort.
        request.held = held  # type: ignore[attr-defined]
    return held if request.method in SAFE else None


def streamed(response: Any, scope: Scope | None) -> Any:
    """Narrow also what is sent after the request is over."""
    if scope is not None and not scope.is_whole and getattr(response, "streaming", False):
        pieces = response.streaming_content
        response.streaming_content = (
            later(pieces, scope) if response.is_async else piecewise(pieces, scope)
        )
    return response


def piecewise(pieces: Iterator[bytes], scope: Scope) -> Iterator[bytes]:
    """Make each piece with somebody's eyes."""
    while True:
        with visibility.within(scope):
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece


async def later(pieces: AsyncIterator[bytes], scope: Scope) -> AsyncIterator[bytes]:
    """Do the same where the server does not wait."""
    while True:
        with visibility.within(scope):
            piece = await anext(pieces, None)
        if piece is None:
            return
        yield piece
