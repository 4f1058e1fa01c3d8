"""What tokens tried and may not, for people to see: each sort of it once a minute."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote

from django.db import OperationalError
from django.utils import timezone
from rest_framework.request import Request

from resources.api.authentication import bearer_of
from resources.api.rate_limits import Local
from resources.documents.problems import Problem
from resources.tables.models import AgentToken
from resources.usecases import tokens

logger = logging.getLogger("ioa.api")

EVERY_SECONDS = 60.0
LONGEST_PATH = 200
recent = Local()


def note(request: Request, view: Any, error: Exception) -> None:
    """Write down that a token may not do what it tried; a refusal with a code wrote so itself."""
    refused = isinstance(error, Problem) and error.status == 403 and not error.rule
    if refused and request.method not in ("GET", "HEAD"):
        note_token(request, type(view).__name__, str(error))


def note_token(request: Request, sort: str, reason: str) -> None:
    """Write down that a token was refused, unless it was just now for the same sort of call."""
    token = getattr(request, "auth", None)
    if not isinstance(token, AgentToken):
        return
    key = f"{token.key_id}/{request.method}/{sort}"
    if recent.take(key, EVERY_SECONDS, EVERY_SECONDS) > 0:
        return
    # As it came: nothing in it is shown as anything but letters.
    tried = f"{request.method} {quote(request.path[:LONGEST_PATH])[:LONGEST_PATH]}"
    try:
        actor, now = bearer_of(token), timezone.now()
        tokens.note_refused(token, tried, reason, actor=actor, now=now)
    except OperationalError as error:
        logger.warning("A refusal was not written down: %s", error)
