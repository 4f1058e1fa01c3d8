"""`/apply`: many documents at once, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from resources.api import parameters
from resources.api.authentication import actor_of, require_permission, scope_of
from resources.api.base import View, read_body
from resources.api.formats import JSONParser, TextYAMLStreamParser, YAMLStreamParser
from resources.api.schema import operation, query
from resources.api.serializers import AppliedSerializer, DocumentsSerializer
from resources.documents.problems import CONFLICT, FORBIDDEN, INVALID, Problem, invalid
from resources.usecases import specs
from resources.usecases.access_rules import OPERATE, at, rules
from resources.usecases.specs import DesiredDocument, Outcome


class Apply(View):
    """Documents to be made true."""

    rights = rules(POST=at("there", *OPERATE))
    tag = "Resources"
    parameters = {"POST": ("dryRun", "keepGoing")}
    parser_classes = [JSONParser, YAMLStreamParser, TextYAMLStreamParser]

    @property
    def body_limit(self) -> int:
        """Return how many bytes a body may have."""
        limit: int = settings.IMPORT_LIMIT
        return limit

    @operation(
        "applyDocuments",
        "Apply many documents, all or nothing",
        parameters=[
            query("dryRun", "Say what would change, and write nothing.", type=bool),
            query("keepGoing", "Write what can be written, refuse the rest.", type=bool),
        ],
        request=DocumentsSerializer,
        answers={200: AppliedSerializer},
        errors=(400, 403, 409, 413, 415),
    )
    def post(self, request: Request) -> Response:
        """Apply what the body holds."""
        dry_run = parameters.flag(request, "dryRun")
        keep_going = parameters.flag(request, "keepGoing")
        if not dry_run:
            require_permission(request, "change")
        places, documents = unpack(read_body(request))
        outcome = specs.apply(
            [DesiredDocument(document, scope=scope_of(request)) for document in documents],
            actor=actor_of(request),
            now=timezone.now(),
            dry_run=dry_run,
            keep_going=keep_going,
        )
        body = AppliedSerializer.show(outcome, dry_run=dry_run)
        if not dry_run and nothing_done(outcome):
            raise refusal(outcome, places, body)
        return Response(body)


def unpack(body: Any) -> tuple[list[str], list[Any]]:
    """Return the documents of a body and where each stands in it."""
    if isinstance(body, list):
        documents, place = body, ""
    elif isinstance(body, dict) and "items" in body and "kind" not in body:
        documents, place = body["items"], "/items"
    else:
        return [""], [body]
    if not isinstance(documents, list) or not documents:
        raise invalid("Send at least one document.", pointer=place)
    return [f"{place}/{position}" for position in range(len(documents))], documents


def nothing_done(outcome: Outcome) -> bool:
    """Tell whether every document was turned away, or the set as a whole."""
    return not outcome.written or all(result.failed for result in outcome.results)


def refusal(outcome: Outcome, places: Sequence[str], body: dict[str, Any]) -> Problem:
    """Say what keeps the set from being written, each fault with its place in the body."""
    errors = [
        {"pointer": place + each.pointer, "detail": each.message}
        for place, result in zip(places, outcome.results, strict=True)
        for each in result.problems
    ]
    failed = [result for result in outcome.results if result.failed]
    conflicts = all(result.action == "conflict" for result in failed)
    code = CONFLICT if conflicts else INVALID
    if any(each.rule == specs.NOT_YOURS for result in failed for each in result.problems):
        code = FORBIDDEN
    detail = f"Nothing was written: {len(failed)} of {len(places)} cannot be applied."
    return Problem(code, detail, errors=errors, **body)
