"""What every endpoint shares: rights, strict parameters, and one id for what it causes."""

from __future__ import annotations

import re
import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from resources.api import refusals
from resources.api.authentication import PEOPLE_CHANGE_SPECS, principal_of, require_scope
from resources.api.formats import MergePatchParser
from resources.api.preconditions import etag
from resources.documents import kinds
from resources.documents.kind import Kind
from resources.documents.problems import invalid, missing
from resources.observability import correlation
from resources.store import snapshots
from resources.tables import ledger
from resources.tables.models import Resource
from resources.usecases.access import visible
from resources.usecases.access_rules import Rules

CORRELATION = "X-Correlation-ID"
STORY = re.compile(r"[A-Za-z0-9._-]{1,64}")
SAFE = ("GET", "HEAD")


class View(APIView):
    """An endpoint. A token needs `scope` to read, `write_scope` to write; "" keeps tokens out."""

    # Who may use it. An endpoint at an address says so itself: its parent does not speak for it.
    rights: ClassVar[Rules]
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    tag = ""
    scope = "resources:read"
    write_scope = ""
    # What a token hears that may not write here.
    refusal = PEOPLE_CHANGE_SPECS
    # Whether people may write here however often they do: to stop and to decide.
    always_heard = False
    # The query parameters each method knows; any other is refused, for a typing error hides data.
    parameters: dict[str, tuple[str, ...]] = {}

    @property
    def body_limit(self) -> int:
        """Return how many bytes a body may have."""
        limit: int = settings.BODY_LIMIT
        return limit

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Tell one story: what is written meanwhile carries the caller's correlation id."""
        asked = correlation.asked.get()
        story = asked.story if asked is not None else story_of(request)
        token = ledger.correlation.set(story)
        try:
            response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        finally:
            ledger.correlation.reset(token)
        response[CORRELATION] = story
        response["Cache-Control"] = "no-store"
        return response

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Measure a body sent in chunks: REST framework takes an unknown length for none."""
        if request.method not in SAFE and not request.META.get("CONTENT_LENGTH"):
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    def get_parsers(self) -> list[BaseParser]:
        """Read a PATCH as a merge patch; every other body is JSON or YAML."""
        if getattr(self.request, "method", "") == "PATCH":
            return [MergePatchParser()]
        return super().get_parsers()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check who asks, then what is asked for."""
        super().initial(request, *args, **kwargs)
        scope = self.scope if request.method in SAFE else self.write_scope
        require_scope(request, scope, self.refusal)
        self.check_address(request, kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer a refusal; what a token may not do is written down for people to see."""
        refusals.note(self.request, self, exc)
        return super().handle_exception(exc)

    def check_address(self, request: Request, kwargs: dict[str, Any]) -> None:
        """Refuse what no database could look for, and parameters nobody reads."""
        if any("\x00" in str(value) for value in kwargs.values()):
            raise missing("There is nothing here.")
        if any("\x00" in value for values in request.query_params.lists() for value in values[1]):
            raise invalid("A parameter contains a NUL character.")
        known = self.parameters.get("GET" if request.method in SAFE else str(request.method), ())
        if unknown := sorted(set(request.query_params) - set(known)):
            detail = f"There is no parameter {unknown[0][:80]!r} here."
            raise invalid(detail, allowed=list(known))
        given = request.headers.get(CORRELATION)
        if given is not None and not STORY.fullmatch(given):
            raise invalid(f"{CORRELATION} has up to 64 letters, digits, dots, hyphens and _.")


def story_of(request: HttpRequest) -> str:
    """Return the id that a caller gives to what a request causes, or a new one."""
    given = request.headers.get(CORRELATION, "")
    return given if STORY.fullmatch(given) else str(uuid.uuid4())


def kind_named(path: str) -> Kind:
    """Return the kind of a path, or answer 404."""
    kind = kinds.by_path(path)
    if kind is None:
        detail = f"There is no kind {path[:80]!r}."
        raise missing(detail, allowed=[each.path for each in kinds.ALL])
    return kind


def find(request: Request, kind: Kind, name: str) -> Resource:
    """Return a live resource that the principal may read, or answer 404."""
    live = Resource.objects.filter(kind=kind.name, name=name, deleted_at=None)
    found = visible(live, principal_of(request)).first()
    if found is None:
        raise missing(f"There is no {kind.path}/{name[:253]}.")
    return found


def read_body(request: Request) -> Any:
    """Return the plain values of the body."""
    if request.stream is None:
        raise invalid("Send a body.")
    return request.data


def whole(row: Resource, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with the document of a resource and its version."""
    document = snapshots.document_of(row, snapshots.conditions_of([row])[row.pk])
    tag = {"ETag": etag(row.resource_version)}
    return Response(document, status=status, headers=tag | (headers or {}))
