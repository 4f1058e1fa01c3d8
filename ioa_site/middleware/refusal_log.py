"""What is written down of a person whom an answer refused: tries to change something, no looks."""

from __future__ import annotations

from typing import Any

import orjson
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from controllers.access import refusal_log
from resources.api.problems import MEDIA_TYPE
from resources.usecases.access_table import name_of

FORBIDDEN = 403
SAFE = ("GET", "HEAD", "OPTIONS")
# A form from elsewhere, and a session that has to be confirmed, say nothing about rights.
ABOUT_RIGHTS = "/problems/forbidden"
FORGED = "CSRF Failed"


def is_refused(request: HttpRequest, response: Any) -> bool:
    """Tell whether a person got as far as a view, and their rights did not reach."""
    asked = getattr(request, "is_let_in", False) and request.method not in SAFE
    return asked and getattr(response, "status_code", 0) == FORBIDDEN


def note(request: HttpRequest, response: Any) -> None:
    """Write it down, with the reason where the answer gives one."""
    person, match, reason = request.user, request.resolver_match, ""
    if response.headers.get("Content-Type", "") == MEDIA_TYPE:
        problem = orjson.loads(response.content)
        reason = str(problem.get("detail", ""))
        if problem.get("type") != ABOUT_RIGHTS or reason.startswith(FORGED):
            return
    if isinstance(person, User) and match is not None:
        tried = (str(request.method), request.path)
        refusal_log.note(person, name_of(match), tried, reason, timezone.now())
