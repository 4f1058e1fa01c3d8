"""What is refused before any view sees it: people get a page, programs a problem."""

from __future__ import annotations

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.views.defaults import bad_request

from resources.api.problems import respond
from resources.documents.problems import invalid

API = "/api/"


def answer(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that cannot be understood."""
    if not request.path.startswith(API):
        return bad_request(request, exception)
    if isinstance(exception, DisallowedHost):
        return respond(invalid("This product does not answer under this host."))
    return respond(invalid("The request cannot be understood."))
