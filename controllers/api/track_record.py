"""`/controllers/{name}/record`, `/agents/{name}/record`: how well what they propose turns out."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import track_record
from controllers.api import examples
from controllers.api.base import CONTROLLER, find_controller
from controllers.track_record import Record
from resources.api import parameters
from resources.api.base import View, find, kind_named
from resources.api.schema import operation, path, query
from resources.kind import Document
from resources.ledger import instant
from resources.models import Resource

SINCE = query("since", "Only what moved from this time on (RFC 3339); otherwise 90 days.")


class ControllerRecord(View):
    """The track record of a controller."""

    tag = "Controllers"
    parameters = {"GET": ("since",)}

    @operation(
        "readControllerRecord",
        "Read what became of a controller's proposals, and whether they helped",
        parameters=[CONTROLLER, SINCE],
        answers={200: ("TrackRecord", examples.RECORD)},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return its counts."""
        return record(request, find_controller(request, name))


class AgentRecord(View):
    """The track record of an agent."""

    tag = "Decisions"
    parameters = {"GET": ("since",)}

    @operation(
        "readAgentRecord",
        "Read what became of an agent's proposals, and whether they helped",
        parameters=[path("name", "The agent's name."), SINCE],
        answers={200: ("TrackRecord", {**examples.RECORD, "proposer": "agent/scribe"})},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return its counts."""
        return record(request, find(request, kind_named("agent"), name))


def record(request: Request, proposer: Resource) -> Response:
    """Answer with the record of a resource that proposes."""
    since = parameters.instant(request, "since")
    return Response(document(track_record.of(str(proposer), timezone.now(), since)))


def document(found: Record) -> Document:
    """Write a record as the API shows it."""
    rate = found.override_rate
    return {
        "proposer": found.proposer,
        "since": instant(found.since),
        "proposals": found.proposals,
        "states": dict(found.states),
        "decided": found.decided,
        "approved": found.approved,
        "byPolicy": found.by_policy,
        "rejected": found.rejected,
        "overridden": found.overridden,
        "changed": found.changed,
        **({} if rate is None else {"overrideRate": rate}),
        "outcomes": {
            "effective": found.effective,
            "ineffective": found.ineffective,
            "worse": found.worse,
        },
    }
