"""Tables as files for a spreadsheet, sent a piece at a time."""

from __future__ import annotations

import csv
from collections.abc import AsyncIterator, Iterable, Iterator
from io import StringIO
from typing import NamedTuple

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone

from controllers.access import exports

CSV = "text/csv; charset=utf-8"
# What a spreadsheet would take for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Piece(NamedTuple):
    """A part of a file, and how many rows are in it."""

    text: str
    size: int = 0


def download(
    request: HttpRequest, pieces: Iterator[Piece], name: str, kind: str = CSV
) -> StreamingHttpResponse:
    """Send pieces as they are made, whichever way the server runs; the ledger says to whom."""
    person = request.user
    if isinstance(person, User) and request.method == "GET":
        exports.begin(person, name, request.GET.dict(), now=timezone.now())
        texts = counted(pieces, person, name)
    else:
        texts = (each.text for each in pieces)
    stream = later(texts) if isinstance(request, ASGIRequest) else texts
    response = StreamingHttpResponse(stream, content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def counted(pieces: Iterator[Piece], person: User, name: str) -> Iterator[str]:
    """Send the pieces, and say in the end how many rows they held."""
    count = 0
    for each in pieces:
        yield each.text
        count += each.size
    exports.end(person, name, count, now=timezone.now())


async def later(pieces: Iterator[str]) -> AsyncIterator[str]:
    """Make one piece after the other in the thread that talks to the database."""
    following = sync_to_async(lambda: next(pieces, None))
    while (piece := await following()) is not None:
        yield piece


def heading(cells: Iterable[str]) -> Piece:
    """Write what the columns are called."""
    return Piece(rows([cells]).text)


def rows(lines: Iterable[Iterable[str]]) -> Piece:
    """Write lines of cells."""
    written = [[safe(each) for each in line] for line in lines]
    text = StringIO()
    csv.writer(text).writerows(written)
    return Piece(text.getvalue(), len(written))


def safe(cell: str) -> str:
    """Keep a spreadsheet from running what somebody wrote."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell
