"""What people see, and what the log says, while the database does not answer."""

from __future__ import annotations

import logging
import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import server_error

from resources.observability import metrics
from resources.tables import database_errors

PAGE = "503.html"


def answer(request: HttpRequest) -> HttpResponse:
    """Say that something broke; when it is the database, that it passes."""
    error = sys.exc_info()[1]
    if error is None or not database_errors.is_outage(error):
        return server_error(request)
    metrics.OUTAGES.inc()
    # Nothing that a page usually shows may be asked of the database now.
    response = render(None, PAGE, {"sentence": database_errors.sentence(error)}, status=503)
    response["Retry-After"] = database_errors.RETRY_SECONDS
    return response


class Shorten(logging.Filter):
    """Says in one line that the database is away: a trace for each request would hide the rest."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record, and shorten those."""
        error = record.exc_info[1] if record.exc_info else None
        if database_errors.is_outage(error):
            record.msg, record.args = "%s: the database refused: %s", (record.getMessage(), error)
            record.exc_info, record.exc_text = None, None
        return True
