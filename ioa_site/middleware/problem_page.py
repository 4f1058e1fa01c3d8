"""What people see when a page lets a problem through: the sentence that programs get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from resources.documents.problems import BUSY, Problem
from resources.store.store import Stale


class ProblemPages:
    """Answers what the views of pages refuse; those of the API answer by themselves."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Hand the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Show a problem; anything else is a fault of ours."""
        if isinstance(error, Stale):
            error = Problem(BUSY, str(error))
        return shown(request, error) if isinstance(error, Problem) else None


def shown(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Show a problem on a page of its own, or alone to a script."""
    alone = "HX-Request" in request.headers
    template = "partials/refusal.html" if alone else "problem.html"
    context = {"problem": problem, "back": back(request)}
    response = render(request, template, context, status=problem.status)
    response.headers["Cache-Control"] = "no-store"
    return response


def back(request: HttpRequest) -> str:
    """Return the page of ours that somebody came from; nothing when it is another."""
    came = request.headers.get("Referer", "")
    known = url_has_allowed_host_and_scheme(came, request.get_host(), request.is_secure())
    return came if known else ""
