"""`/resources/{kind}/{name}/status`: what is observed, and nothing else."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from resources.api import preconditions
from resources.api.authentication import actor_of, require_permission
from resources.api.base import View, find, kind_named, read_body
from resources.api.preconditions import etag
from resources.api.schema import IF_MATCH, KIND, NAME, header, operation
from resources.api.serializers import REPORTED, StatusSerializer
from resources.documents.kind import Fault
from resources.documents.problems import Problem, conflict, forbidden, missing, wrong
from resources.store import snapshots
from resources.tables.models import Resource
from resources.usecases import statuses
from resources.usecases.access_rules import OPERATE, Rule, api
from resources.usecases.statuses import Observed, Report

PART = "/status"


class ResourceStatus(View):
    """The status of one resource."""

    rights = api(
        PUT=Rule(roles=OPERATE, bearer="status:write"),
        PATCH=Rule(roles=OPERATE, bearer="status:write"),
    )
    tag = "Status"
    write_scope = "status:write"

    @operation(
        "readStatus",
        "Read a resource's status",
        parameters=[
            KIND,
            NAME,
            header("If-None-Match", "The version you have; 304 when it is still the one."),
        ],
        answers={200: StatusSerializer, 304: None},
        errors=(404,),
    )
    def get(self, request: Request, kind: str, name: str) -> Response:
        """Return the status."""
        row = find(request, kind_named(kind), name)
        if preconditions.unchanged(request, row.resource_version):
            return Response(status=304, headers={"ETag": etag(row.resource_version)})
        return shown(row)

    @operation(
        "putStatus",
        "Report a whole status; an agent reports only its own",
        parameters=[KIND, NAME, IF_MATCH],
        request=(StatusSerializer, REPORTED),
        answers={200: StatusSerializer},
        errors=(400, 403, 404, 409, 413, 415),
    )
    def put(self, request: Request, kind: str, name: str) -> Response:
        """Replace the status; conditions that somebody manages stay."""
        return report(request, kind, name, replace=True)

    @operation(
        "patchStatus",
        "Report parts of a status; an agent reports only its own",
        parameters=[KIND, NAME, IF_MATCH],
        request={"application/merge-patch+json": (StatusSerializer, REPORTED)},
        answers={200: StatusSerializer},
        errors=(400, 403, 404, 409, 413, 415),
    )
    def patch(self, request: Request, kind: str, name: str) -> Response:
        """Merge into the status; conditions merge by their type."""
        return report(request, kind, name, replace=False)


def report(request: Request, kind: str, name: str, *, replace: bool) -> Response:
    """Record one report and answer with the status it led to."""
    found = kind_named(kind)
    if request.auth is None:
        require_permission(request, "change")
    status = read_body(request)
    if not isinstance(status, dict):
        raise wrong([Fault("", "A status is an object.")])
    if request.auth is None:
        require_permission(request, "change", find(request, found, name).domain)
    expected = preconditions.expected(request)
    wanted = Report(found.name, name, status, replace=replace, expected=expected)
    result = statuses.observe([wanted], actor=actor_of(request), now=timezone.now())[0]
    if result.resource is None or result.failed:
        raise refusal(result)
    return shown(result.resource)


def refusal(result: Observed) -> Problem:
    """Turn a report that was not taken into a problem."""
    reason = result.problems[0].message
    match result.verdict:
        case "missing":
            return missing(reason)
        case "forbidden":
            return forbidden(reason)
        case "conflict":
            return conflict(reason, result.resource.resource_version if result.resource else None)
        case _:
            return wrong(result.problems, within=PART)


def shown(row: Resource) -> Response:
    """Answer with a resource's status and version."""
    conditions = snapshots.conditions_of([row])[row.pk]
    status = snapshots.observed(row.status, conditions)
    return Response(status, headers={"ETag": etag(row.resource_version)})
