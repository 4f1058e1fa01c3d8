"""`/apply`: many documents at once, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from resources import specs
from resources.api import examples, parameters
from resources.api.authentication import actor_of, require_permission, scope_of
from resources.api.base import View, read_body
from resources.api.formats import JSONParser, TextYAMLStreamParser, YAMLStreamParser
from resources.api.problems import Refused, as_error, invalid
from resources.api.schema import operation, query
from resources.specs import Applied, Outcome, Wish


class Apply(View):
    """Documents to be made true."""

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
        request=("Documents", examples.APPLY_IN),
        answers={200: ("Applied", examples.APPLIED)},
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
            [Wish(document, scope=scope_of(request)) for document in documents],
            actor=actor_of(request),
            now=timezone.now(),
            dry_run=dry_run,
            keep_going=keep_going,
        )
        body = described(outcome, dry_run=dry_run)
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


def described(outcome: Outcome, *, dry_run: bool) -> dict[str, Any]:
    """Write what became of each document."""
    written = outcome.written and any(not result.failed for result in outcome.results)
    items = [item(result, dry_run=dry_run) for result in outcome.results]
    return {"items": items, "written": written, "dryRun": dry_run}


def item(result: Applied, *, dry_run: bool) -> dict[str, Any]:
    """Write what became of one document."""
    body: dict[str, Any] = {"kind": result.kind, "name": result.name, "action": result.action}
    row = result.resource
    if row is not None and row.resource_version is not None and not dry_run:
        body["resourceVersion"] = str(row.resource_version)
    if result.problems:
        body["problems"] = [as_error(each) for each in result.problems]
    if dry_run and result.differences:
        body["differences"] = [asdict(each) for each in result.differences]
    return body | ({"notes": list(result.notes)} if result.notes else {})


def refusal(outcome: Outcome, places: Sequence[str], body: dict[str, Any]) -> Refused:
    """Say what keeps the set from being written, each fault with its place in the body."""
    errors = [
        {"pointer": place + each.pointer, "detail": each.message}
        for place, result in zip(places, outcome.results, strict=True)
        for each in result.problems
    ]
    failed = [result for result in outcome.results if result.failed]
    conflicts = all(result.action == "conflict" for result in failed)
    status, slug = (409, "conflict") if conflicts else (400, "invalid")
    if any(each.rule == specs.NOT_YOURS for result in failed for each in result.problems):
        status, slug = 403, "forbidden"
    detail = f"Nothing was written: {len(failed)} of {len(places)} cannot be applied."
    return Refused(status, slug, detail, errors=errors, **body)
