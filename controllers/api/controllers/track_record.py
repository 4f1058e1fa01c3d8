"""`/controllers/{name}/record`, `/agents/{name}/record`: how well what they propose turns out."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import CONTROLLER, find_controller
from controllers.api.controllers.trust_serializers import TrackRecordSerializer
from controllers.trust import track_record
from resources.api import parameters
from resources.api.base import View, find, kind_named
from resources.api.schema import operation, path, query
from resources.tables.models import Resource
from resources.usecases.access_rules import api

SINCE = query("since", "Only what moved from this time on (RFC 3339); otherwise 90 days.")


class ControllerRecord(View):
    """The track record of a controller."""

    rights = api()
    tag = "Controllers"
    parameters = {"GET": ("since",)}

    @operation(
        "readControllerRecord",
        "Read what became of a controller's proposals, and whether they helped",
        parameters=[CONTROLLER, SINCE],
        answers={200: TrackRecordSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return its counts."""
        return record(request, find_controller(request, name))


class AgentRecord(View):
    """The track record of an agent."""

    rights = api()
    tag = "Decisions"
    parameters = {"GET": ("since",)}

    @operation(
        "readAgentRecord",
        "Read what became of an agent's proposals, and whether they helped",
        parameters=[path("name", "The agent's name."), SINCE],
        answers={200: (TrackRecordSerializer, {"proposer": "agent/scribe"})},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return its counts."""
        return record(request, find(request, kind_named("agent"), name))


def record(request: Request, proposer: Resource) -> Response:
    """Answer with the record of a resource that proposes."""
    since = parameters.instant(request, "since")
    found = track_record.of(str(proposer), timezone.now(), since)
    return Response(TrackRecordSerializer.show(found))
