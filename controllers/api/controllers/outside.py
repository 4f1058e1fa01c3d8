"""`/controllers/{name}/…`: what a process reports that runs a controller outside."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import CONTROLLER
from controllers.api.controllers.outside_serializers import (
    ClosedSerializer,
    ClosingSerializer,
    FindingResultSerializer,
    FindingResultsSerializer,
    FindingsSerializer,
    OpenedSerializer,
    OpeningSerializer,
    PulseSerializer,
    ToldSerializer,
)
from controllers.worker import external_controllers
from resources.api import parameters
from resources.api.base import View
from resources.api.schema import operation, path, query
from resources.documents.problems import forbidden
from resources.tables.models import AgentToken, Resource
from resources.usecases.access_rules import agents, rules

NUMBER = path("number", "The cycle's number.")
REFUSAL = "Only the process that runs it outside reports on it."


class Outside(View):
    """An endpoint for the process that runs a controller outside."""

    tag = "Outside controllers"
    write_scope = "cycles:write"
    refusal = REFUSAL


class Findings(Outside):
    """What was found about some resources."""

    rights = rules(POST=agents("cycles:write"))
    parameters = {"POST": ("dryRun",)}

    @property
    def body_limit(self) -> int:
        """Return how many bytes a body may have."""
        limit: int = settings.IMPORT_LIMIT
        return limit

    @operation(
        "reportFindings",
        "Report what was found; what follows from it is worked out here",
        parameters=[
            CONTROLLER,
            NUMBER,
            query("dryRun", "Say what would follow; write nothing.", type=bool),
        ],
        request=FindingsSerializer,
        answers={200: FindingResultsSerializer},
        errors=(400, 403, 404, 409, 413, 415),
    )
    def post(self, request: Request, name: str, number: str) -> Response:
        """Take each finding that can be taken."""
        row, body = bearer(request, name), FindingsSerializer.read_body(request)
        place = external_controllers.FencedCycle(cycle_of(number), body["fence"])
        dry_run = parameters.flag(request, "dryRun")
        kind, now = str(row.spec.get("targetKind")).lower(), timezone.now()
        reports = FindingsSerializer.named(body["findings"], kind)
        heard = external_controllers.report(row, place, reports, now, dry_run=dry_run)
        told = external_controllers.told(external_controllers.declared(row), now)
        items = FindingResultSerializer.show_all(heard, kind=kind)
        return Response({"items": items, **ToldSerializer.tell(told)})


class Heard(Outside):
    """A process that is still there."""

    rights = rules(POST=agents("cycles:write"))

    @operation(
        "hearController",
        "Say that you are still there, and hear what people said",
        parameters=[CONTROLLER],
        request=PulseSerializer,
        body_may_be_missing=True,
        answers={200: ToldSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Prolong the lease of an open cycle, if its fence is given."""
        row, body = bearer(request, name), PulseSerializer.read_body(request)
        told = external_controllers.heartbeat(row, body["fence"], timezone.now())
        return Response(ToldSerializer.tell(told))


def open_cycle(request: Request, name: str) -> Response:
    """Open a cycle for the process that asks."""
    row, body = bearer(request, name), OpeningSerializer.read_body(request)
    holder = f"token/{getattr(request.auth, 'key_id', '')}"
    begun = external_controllers.begin(row, holder, timezone.now(), full=body["full"])
    return Response(OpenedSerializer.begun(begun, row), status=201)


def close_cycle(request: Request, name: str, number: str) -> Response:
    """Close a cycle as the process that ran it says."""
    row, body = bearer(request, name), ClosingSerializer.read_body(request)
    now = timezone.now()
    cycle = external_controllers.close(row, cycle_of(number), body["fence"], body["end"], now)
    told = external_controllers.told(external_controllers.declared(row), now)
    return Response(ClosedSerializer.closed(cycle, row, told))


def cycle_of(number: str) -> int:
    """Read the number of a cycle."""
    return parameters.as_number(number, "number", least=1)


def bearer(request: Request, name: str) -> Resource:
    """Return the controller that a token is made for, if it is the one that is named."""
    if not isinstance(request.auth, AgentToken):
        raise forbidden(REFUSAL)
    row = request.auth.agent
    if (row.kind, row.name) != ("Controller", name):
        raise forbidden(f"This token is made for {row}.")
    return row
