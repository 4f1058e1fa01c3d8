"""Tables as files for a spreadsheet, sent a piece at a time."""

from __future__ import annotations

import csv
from collections.abc import AsyncIterator, Iterable, Iterator
from io import StringIO

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

CSV = "text/csv; charset=utf-8"
# What a spreadsheet would take for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def download(
    request: HttpRequest, pieces: Iterator[str], name: str, kind: str = CSV
) -> StreamingHttpResponse:
    """Send pieces as they are made, whichever way the server runs."""
    stream = later(pieces) if isinstance(request, ASGIRequest) else pieces
    response = StreamingHttpResponse(stream, content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


async def later(pieces: Iterator[str]) -> AsyncIterator[str]:
    """Make one piece after the other in the thread that talks to the database."""
    following = sync_to_async(lambda: next(pieces, None))
    while (piece := await following()) is not None:
        yield piece


def rows(lines: Iterable[Iterable[str]]) -> str:
    """Write lines of cells."""
    text = StringIO()
    csv.writer(text).writerows([safe(each) for each in line] for line in lines)
    return text.getvalue()


def safe(cell: str) -> str:
    """Keep a spreadsheet from running what somebody wrote."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell
