"""`/observations`: many status reports at once, each with its own verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from resources import kinds, statuses
from resources.access import visible
from resources.api import examples, refusals
from resources.api.authentication import actor_of, require_permission, scope_of
from resources.api.base import View, read_body
from resources.api.parameters import read_instant
from resources.api.problems import as_error, invalid
from resources.api.schema import operation
from resources.kind import Problem
from resources.models import Resource
from resources.scoping import Scope
from resources.statuses import Observed, Report

PLACE = ("kind", "name", "domain")
FIELDS = ("kind", "name", "status", "observedAt")


class Observations(View):
    """Reports of what was seen."""

    tag = "Status"
    write_scope = "status:write"

    @property
    def body_limit(self) -> int:
        """Return how many bytes a body may have."""
        limit: int = settings.IMPORT_LIMIT
        return limit

    @operation(
        "reportObservations",
        "Report many statuses; an agent reports only its own",
        request=("Observations", examples.OBSERVATIONS_IN),
        answers={200: ("Observed", examples.OBSERVED)},
        errors=(400, 403, 413, 415),
    )
    def post(self, request: Request) -> Response:
        """Take each report that can be taken."""
        if request.auth is None:
            require_permission(request, "change")
        read = [read_item(each, place) for place, each in enumerate(items_of(read_body(request)))]
        read = within(request, read)
        reports = [each for each in read if isinstance(each, Report)]
        taken = iter(statuses.observe(reports, actor=actor_of(request), now=timezone.now()))
        results = [each if isinstance(each, Observed) else next(taken) for each in read]
        for each in results:
            if each.verdict == "forbidden":
                refusals.note_token(request, type(self).__name__, each.problems[0].message)
        return Response({"items": [described(each) for each in results]})


def within(request: Request, read: list[Report | Observed]) -> list[Report | Observed]:
    """Refuse a person's reports about what lies outside their domains."""
    if request.auth is not None:
        return read
    scope, kinds_told = scope_of(request), {each.kind for each in read}
    # Without its kind a name is found by going through all there are.
    named = Resource.objects.filter(kind__in=kinds_told, name__in={each.name for each in read})
    rows = visible(named.filter(deleted_at=None), request.user)
    seen = {(kind, name): domain for kind, name, domain in rows.values_list(*PLACE)}
    return [refused(each, scope, seen) or each for each in read]


def refused(
    report: Report | Observed, scope: Scope, seen: Mapping[tuple[str, str], str]
) -> Observed | None:
    """Say why a person may not tell something, or nothing."""
    if isinstance(report, Observed):
        return None
    domain = seen.get((report.kind, report.name))
    if domain is None:
        said = Problem("", f"There is no {report.kind.lower()}/{report.name}.")
        return Observed(report.kind, report.name, "missing", (said,))
    if scope.edits("change", domain):
        return None
    said = Problem("", "You may not report here: ask an administrator of its domain.")
    return Observed(report.kind, report.name, "forbidden", (said,))


def items_of(body: Any) -> list[Any]:
    """Return the reports of a body."""
    items = body.get("items") if isinstance(body, dict) else None
    if not isinstance(items, list) or not items:
        raise invalid('Send {"items": […]} with at least one report.', pointer="/items")
    return items


def read_item(item: Any, position: int) -> Report | Observed:
    """Read one report; what is wrong with it is its own verdict."""
    if not isinstance(item, dict):
        raise invalid("A report is an object.", pointer=f"/items/{position}")
    problems = tuple(faults(item))
    kind = kinds.by_name(str(item.get("kind"))) or kinds.by_path(str(item.get("kind")))
    if problems or kind is None:
        return Observed(
            str(item.get("kind"))[:64], str(item.get("name"))[:253], "refused", problems
        )
    seen = read_instant(item["observedAt"]) if "observedAt" in item else None
    return Report(kind.name, item["name"], item["status"], observed_at=seen)


def faults(item: dict[str, Any]) -> Iterator[Problem]:
    """Yield what keeps an item from being a report."""
    kind, name = item.get("kind"), item.get("name")
    if not isinstance(kind, str) or not (kinds.by_name(kind) or kinds.by_path(kind)):
        yield Problem("/kind", f"must be one of {', '.join(each.name for each in kinds.ALL)}")
    if not isinstance(name, str) or not 0 < len(name) <= 253:
        yield Problem("/name", "must be the name of a resource")
    if not isinstance(item.get("status"), dict):
        yield Problem("/status", "must be an object")
    seen = item.get("observedAt")
    if "observedAt" in item and (not isinstance(seen, str) or read_instant(seen) is None):
        yield Problem("/observedAt", "must be a time with a zone, such as 2026-02-25T10:00:00Z")
    for key in item.keys() - set(FIELDS):
        yield Problem(f"/{key[:80]}", "is not a known field")


def described(result: Observed) -> dict[str, Any]:
    """Write what became of one report."""
    body: dict[str, Any] = {"kind": result.kind, "name": result.name, "verdict": result.verdict}
    if result.resource is not None:
        body["resourceVersion"] = str(result.resource.resource_version)
    if result.problems:
        body["problems"] = [as_error(each) for each in result.problems]
    return body
