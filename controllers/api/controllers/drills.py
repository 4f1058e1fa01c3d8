"""`/governance/{name}/drills`: whether the way to step in was tried, and ask for a try."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.controllers.trust_serializers import DrillListSerializer, DrillSerializer
from controllers.api.proposals.decisions import Human, person_of
from controllers.models import Drill
from controllers.worker import drills
from resources.api import parameters
from resources.api.base import find, kind_named
from resources.api.schema import operation, path, query
from resources.api.serializer_base import EmptySerializer
from resources.documents.kind import Document
from resources.tables.ledger import instant
from resources.usecases.access_rules import OPERATE, api, at

NAME = path("name", "The name of the Governance.")


class Drills(Human):
    """The drills of one Governance."""

    rights = api(POST=at("organisation", *OPERATE))
    refusal = "Only people ask for a drill."
    parameters = {"GET": ("limit",)}

    @operation(
        "listDrills",
        "List drills of the way to step in, newest first",
        parameters=[NAME, query("limit", "How many to return.", type=int)],
        answers={200: DrillListSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return the latest."""
        row = find(request, kind_named("governance"), name)
        rows = Drill.objects.filter(governance=row).order_by("-pk")[: parameters.limit(request)]
        said: Document = {"items": DrillSerializer.show_all(rows, governance=row)}
        if last := row.status.get("lastOverrideTest"):
            said["lastOverrideTest"] = last
        due = drills.next_at(row)
        if due is not None:
            said |= {"every": row.spec["humanOverride"]["drillEvery"], "nextAt": instant(due)}
        return Response(said)

    @operation(
        "askForDrill",
        "Ask for a drill; the loop pauses a canary and keeps what it finds",
        parameters=[NAME],
        answers={202: DrillSerializer},
        errors=(403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Ask for one."""
        EmptySerializer.read_body(request)
        person = person_of(request)
        row = find(request, kind_named("governance"), name)
        asked = drills.ask(row.name, person=person, now=timezone.now())
        return Response(DrillSerializer.show(asked, governance=row), status=202)
