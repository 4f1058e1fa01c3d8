"""`/resources/{kind}`: the resources of one kind, page by page, now or at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View, kind_named
from resources.api.schema import KIND, operation, query
from resources.api.serializers import ResourceListSerializer
from resources.documents.kind import Document, Kind
from resources.documents.problems import invalid
from resources.store import history, selectors, snapshots
from resources.store.selectors import Selector
from resources.tables.models import Resource
from resources.usecases import watch
from resources.usecases.access import sees, visible
from resources.usecases.access_rules import api

DocumentPage = tuple[list[Document], str | None]


class ResourceList(View):
    """The resources of one kind."""

    rights = api()
    tag = "Resources"
    parameters = {"GET": ("labelSelector", "domain", "drifted", "limit", "cursor", "at")}

    @operation(
        "listResources",
        "List the resources of a kind, ordered by name",
        parameters=[
            KIND,
            query("labelSelector", "Terms such as `tier=production,!legacy`; all must hold."),
            query("domain", "Only what belongs to this domain."),
            query("drifted", "Only what a controller finds drifted now, or what none does.", bool),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
            query("at", "Show the list as it was at this time (RFC 3339)."),
        ],
        answers={200: ResourceListSerializer},
        errors=(400, 404, 410),
    )
    def get(self, request: Request, kind: str) -> Response:
        """Return one page."""
        found = kind_named(kind)
        at = parameters.at(request)
        # The version comes first: a watch from it repeats a change rather than missing one.
        version = watch.current()
        items, following = now(request, found) if at is None else then(request, found, at)
        page: dict[str, Any] = {"items": items}
        if following is not None:
            page["nextCursor"] = parameters.Cursor(request, found.name).following(following)
        return Response(page | {"resourceVersion": str(version)})


def now(request: Request, kind: Kind) -> DocumentPage:
    """Return a page of what is there, and the name behind which it goes on."""
    most = parameters.limit(request)
    after = parameters.Cursor(request, kind.name).after()
    live = Resource.objects.filter(kind=kind.name, deleted_at=None, name__gt=after)
    if domain := request.query_params.get("domain"):
        live = live.filter(domain=domain)
    live = by_drift(live, parameters.choice(request, "drifted"))
    selected = selectors.matching(visible(live, principal_of(request)), selector(request))
    rows = list(selected.order_by("name")[: most + 1])
    conditions = snapshots.conditions_of(rows[:most])
    items = [snapshots.document_of(row, conditions[row.pk]) for row in rows[:most]]
    return items, rows[most - 1].name if len(rows) > most else None


def by_drift(rows: QuerySet[Resource], drifted: bool | None) -> QuerySet[Resource]:
    """Keep what any controller finds drifted, or what none does."""
    if drifted is None:
        return rows
    found = Q(pk__in=Resource.objects.filter(judged__drifted=True).values("pk"))
    return rows.filter(found if drifted else ~found)


def then(request: Request, kind: Kind, at: datetime) -> DocumentPage:
    """Return a page of what was there; filters apply to what each resource said then."""
    if "drifted" in request.query_params:
        raise invalid("drifted is known only for now: leave out at.")
    most = parameters.limit(request)
    after = parameters.Cursor(request, kind.name).after()
    domain = request.query_params.get("domain", "")
    principal, wanted = principal_of(request), selector(request)
    past = history.as_at(kind.name, at, after=after, limit=most + 1, domain=domain)
    items = [each for each in past[:most] if sees(principal, each) and meets(each, wanted)]
    return items, past[most - 1]["metadata"]["name"] if len(past) > most else None


def selector(request: Request) -> Selector:
    """Read the label selector."""
    return selectors.parse(request.query_params.get("labelSelector", ""))


def meets(document: Document, wanted: Selector) -> bool:
    """Tell whether a document's labels meet every term, as `selectors.matching` does in SQL."""
    labels = document["metadata"].get("labels") or {}
    for term in wanted:
        held = term.key in labels and (
            term.demand in ("exists", "absent") or labels[term.key] in term.values
        )
        if held != (term.demand in ("in", "exists")):
            return False
    return True
