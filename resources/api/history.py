"""`/resources/{kind}/{name}/…`: revisions, one revision whole, and conditions."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from resources.api import parameters
from resources.api.base import View, find, kind_named
from resources.api.preconditions import etag
from resources.api.schema import KIND, NAME, VERSION, operation, query
from resources.api.serializers import (
    ConditionListSerializer,
    ResourceSerializer,
    RevisionListSerializer,
    RevisionSerializer,
)
from resources.documents.problems import missing
from resources.store import history, snapshots
from resources.usecases.access_rules import api


class Revisions(View):
    """The changes of one resource."""

    rights = api()
    tag = "History"
    parameters = {"GET": ("before", "limit")}

    @operation(
        "listRevisions",
        "List a resource's changes, newest first",
        parameters=[
            KIND,
            NAME,
            query("before", "`nextBefore` of the page before.", type=int),
            query("limit", "How many to return.", type=int),
        ],
        answers={200: RevisionListSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, kind: str, name: str) -> Response:
        """Return one page."""
        before = parameters.number(request, "before", least=1)
        most = parameters.limit(request)
        row = find(request, kind_named(kind), name)
        found = row.revisions.order_by("-resource_version").defer("metadata", "spec", "status")
        if before is not None:
            found = found.filter(resource_version__lt=before)
        kept = list(found[: most + 1])
        page: dict[str, Any] = {"items": RevisionSerializer.show_all(kept[:most])}
        if len(kept) > most:
            page["nextBefore"] = str(kept[most - 1].resource_version)
        return Response(page)


class Revision(View):
    """One resource as it was at one version."""

    rights = api()
    tag = "History"

    @operation(
        "readRevision",
        "Read a resource as it was after one change",
        parameters=[KIND, NAME, VERSION],
        answers={200: ResourceSerializer},
        errors=(404,),
    )
    def get(self, request: Request, kind: str, name: str, version: str) -> Response:
        """Return the whole document."""
        number = parameters.as_number(version, "version", least=1)
        row = find(request, kind_named(kind), name)
        found = history.revisions(row, before=number + 1, limit=1)
        if not found or found[0].resource_version != number:
            raise missing(f"{row} has no revision {number}, or it is no longer kept.")
        document = history.document_of_revision(found[0])
        return Response(document, headers={"ETag": etag(number)})


class Conditions(View):
    """The conditions of one resource."""

    rights = api()
    tag = "Status"

    @operation(
        "listConditions",
        "List a resource's conditions, ordered by type",
        parameters=[KIND, NAME],
        answers={200: ConditionListSerializer},
        errors=(404,),
    )
    def get(self, request: Request, kind: str, name: str) -> Response:
        """Return all of them."""
        row = find(request, kind_named(kind), name)
        found = snapshots.conditions_of([row])[row.pk]
        items = snapshots.observed({}, found).get("conditions", [])
        body = {"items": items, "resourceVersion": str(row.resource_version)}
        return Response(body, headers={"ETag": etag(row.resource_version)})
