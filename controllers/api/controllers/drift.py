"""`/resources/{kind}/{name}/drift`: how far it is from what is declared, now and before."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import find_controller
from controllers.api.controllers.serializers import (
    DriftItemSerializer,
    DriftPointSerializer,
    DriftSerializer,
)
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Alert, DriftSample, Judgement, Proposal
from controllers.workqueue import compiled_controllers
from resources.api import parameters
from resources.api.base import View, find, kind_named
from resources.api.schema import KIND, NAME, operation, query
from resources.documents.kind import Document
from resources.tables.models import Resource
from resources.usecases.access_rules import api


class Drift(View):
    """The drift of one resource, under every controller that looks after it."""

    rights = api()
    tag = "Status"
    parameters = {"GET": ("controller", "since", "limit")}

    @operation(
        "readDrift",
        "Read a resource's drift: scores, evidence, plans and alerts, and how it came about",
        parameters=[
            KIND,
            NAME,
            query("controller", "Only what this controller concluded."),
            query("since", "History only from this time on (RFC 3339)."),
            query("limit", "How many points of history to return.", type=int),
        ],
        answers={200: DriftSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, kind: str, name: str) -> Response:
        """Return what is concluded now, and the points of the past, newest first."""
        since, most = parameters.instant(request, "since"), parameters.limit(request)
        row = find(request, kind_named(kind), name)
        judged = row.judged.filter(controller__deleted_at=None)
        past = row.drift_samples.filter(controller__deleted_at=None)
        if wanted := request.query_params.get("controller"):
            chosen = find_controller(request, wanted)
            judged, past = judged.filter(controller=chosen), past.filter(controller=chosen)
        if since is not None:
            past = past.filter(at__gte=since)
        items = [*conclusions(row, judged)]
        return Response({"items": items, "history": history(past, most)})


def conclusions(row: Resource, judged: QuerySet[Judgement]) -> list[Document]:
    """Write what each controller concluded, with its plan and its open alerts."""
    planned = [*Proposal.objects.filter(resource=row, state__in=OPEN).order_by("pk")]
    told = Alert.objects.filter(resource=row, resolved_at=None).order_by("-pk")
    alerts = [*told.select_related("controller", "resource").prefetch_related("deliveries")]
    now = timezone.now()
    found = []
    for each in judged.select_related("controller__runtime").order_by("controller__name"):
        key = each.controller_id
        controller = compiled_controllers.attempt((key, each.controller.generation))
        found.append(
            DriftItemSerializer.show(
                each,
                compiled=controller,
                now=now,
                version=row.resource_version,
                alerts=[told for told in alerts if told.controller_id == key],
                planned=[plan for plan in planned if plan.controller_id == key],
            )
        )
    return found


def history(past: QuerySet[DriftSample], most: int) -> list[Document]:
    """Write the latest points of a history."""
    points = past.select_related("controller").order_by("-at", "-pk")
    return DriftPointSerializer.show_all(points[:most])
