"""`/controllers/{name}/cycles`: what each run of a controller found and did."""

from __future__ import annotations

from operator import attrgetter

from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import CONTROLLER, find_controller, seen_by
from controllers.api.controllers.outside import REFUSAL, close_cycle, open_cycle
from controllers.api.controllers.outside_serializers import (
    ClosedSerializer,
    ClosingSerializer,
    OpenedSerializer,
    OpeningSerializer,
)
from controllers.api.controllers.serializers import (
    CycleListSerializer,
    CycleSerializer,
    CycleSummarySerializer,
    mentioned,
)
from resources.api import parameters
from resources.api.base import View
from resources.api.schema import operation, path, query
from resources.documents.problems import missing
from resources.usecases.access_rules import agents, api

MERGE_PATCH = "application/merge-patch+json"


class Cycles(View):
    """The cycles of one controller."""

    rights = api(POST=agents("cycles:write"))
    tag = "Controllers"
    write_scope = "cycles:write"
    refusal = REFUSAL
    parameters = {"GET": ("limit", "cursor")}

    @operation(
        "listCycles",
        "List a controller's cycles, newest first",
        parameters=[
            CONTROLLER,
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before."),
        ],
        answers={200: CycleListSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return one page."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, f"cycles of {name}")
        after = cursor.after()
        row = find_controller(request, name)
        found = row.cycles.order_by("-number").defer("hooks", "actions")
        if after:
            found = found.filter(number__lt=int(after))
        kept = list(found[: most + 1])
        items = CycleSummarySerializer.show_all(kept[:most], controller=row)
        place = attrgetter("number")
        return Response(CycleListSerializer.paged(items, kept, most, cursor, place))

    @operation(
        "openCycle",
        "Open a cycle of a controller that you run outside",
        parameters=[CONTROLLER],
        request=OpeningSerializer,
        body_may_be_missing=True,
        answers={201: OpenedSerializer},
        errors=(400, 403, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Give it a lease, a fence and what people said."""
        return open_cycle(request, name)


class CycleRecord(View):
    """One cycle."""

    rights = api(PATCH=agents("cycles:write"))
    tag = "Controllers"
    write_scope = "cycles:write"
    refusal = REFUSAL

    @operation(
        "readCycle",
        "Read a cycle: counts and times of each phase, hooks, actions and errors",
        parameters=[CONTROLLER, path("number", "The cycle's number.")],
        answers={200: CycleSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str, number: str) -> Response:
        """Return everything about it."""
        wanted = parameters.as_number(number, "number", least=1)
        row = find_controller(request, name)
        cycle = row.cycles.filter(number=wanted).first()
        if cycle is None:
            raise missing(f"{row} has no cycle {wanted}, or it is no longer kept.")
        seen = seen_by(request, mentioned(cycle))
        return Response(CycleSerializer.show(cycle, controller=row, seen=seen))

    @operation(
        "closeCycle",
        "Close a cycle of a controller that you run outside",
        parameters=[CONTROLLER, path("number", "The cycle's number.")],
        request={MERGE_PATCH: ClosingSerializer},
        answers={200: ClosedSerializer},
        errors=(400, 403, 404, 409),
    )
    def patch(self, request: Request, name: str, number: str) -> Response:
        """Write its report."""
        return close_cycle(request, name, number)
