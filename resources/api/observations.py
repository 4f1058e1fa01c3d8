"""`/observations`: many status reports at once, each with its own verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from resources.api import refusals
from resources.api.authentication import actor_of, require_permission, scope_of
from resources.api.base import View, read_body
from resources.api.schema import operation
from resources.api.serializers import (
    ObservationSerializer,
    ObservationsSerializer,
    ObservedItemSerializer,
    ObservedSerializer,
)
from resources.documents.kind import Fault
from resources.documents.problems import invalid
from resources.tables.models import Resource
from resources.tables.visibility import Scope
from resources.usecases import statuses
from resources.usecases.access import visible
from resources.usecases.access_rules import OPERATE, Rule, rules
from resources.usecases.statuses import Observed, Report

PLACE = ("kind", "name", "domain")


class Observations(View):
    """Reports of what was seen."""

    rights = rules(POST=Rule(roles=OPERATE, bearer="status:write"))
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
        request=ObservationsSerializer,
        answers={200: ObservedSerializer},
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
        return Response({"items": ObservedItemSerializer.show_all(results)})


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
        said = Fault("", f"There is no {report.kind.lower()}/{report.name}.")
        return Observed(report.kind, report.name, "missing", (said,))
    if scope.edits("change", domain):
        return None
    said = Fault("", "You may not report here: ask an administrator of its domain.")
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
    body, faults = ObservationSerializer.collect(item)
    if faults:
        kind, name = str(item.get("kind"))[:64], str(item.get("name"))[:253]
        problems = tuple(Fault(each.pointer or "", each.message) for each in faults)
        return Observed(kind, name, "refused", problems)
    return Report(body["kind"], body["name"], body["status"], observed_at=body["observed_at"])
