"""`/controllers/{name}/cycles`: what each run of a controller found and did."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api import documents, examples, work_examples
from controllers.api.base import CONTROLLER, find_controller, seen_by
from controllers.api.outside import REFUSAL, close_cycle, open_cycle
from resources.api import parameters
from resources.api.base import View
from resources.api.problems import not_found
from resources.api.schema import operation, path, query

MERGE_PATCH = "application/merge-patch+json"


class Cycles(View):
    """The cycles of one controller."""

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
        answers={200: ("CycleList", examples.CYCLES)},
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
        items = [documents.cycle_summary(each, row) for each in kept[:most]]
        page: dict[str, Any] = {"items": items}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].number))
        return Response(page)

    @operation(
        "openCycle",
        "Open a cycle of a controller that you run outside",
        parameters=[CONTROLLER],
        request=("Opening", work_examples.OPENING),
        answers={201: ("Opened", work_examples.OPENED)},
        errors=(400, 403, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Give it a lease, a fence and what people said."""
        return open_cycle(request, name)


class CycleRecord(View):
    """One cycle."""

    tag = "Controllers"
    write_scope = "cycles:write"
    refusal = REFUSAL

    @operation(
        "readCycle",
        "Read a cycle: counts and times of each phase, hooks, actions and errors",
        parameters=[CONTROLLER, path("number", "The cycle's number.")],
        answers={200: ("Cycle", examples.CYCLE)},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str, number: str) -> Response:
        """Return everything about it."""
        wanted = parameters.as_number(number, "number", least=1)
        row = find_controller(request, name)
        cycle = row.cycles.filter(number=wanted).first()
        if cycle is None:
            raise not_found(f"{row} has no cycle {wanted}, or it is no longer kept.")
        seen = seen_by(request, documents.mentioned(cycle))
        return Response(documents.cycle_record(cycle, row, seen))

    @operation(
        "closeCycle",
        "Close a cycle of a controller that you run outside",
        parameters=[CONTROLLER, path("number", "The cycle's number.")],
        request={MERGE_PATCH: ("Closing", work_examples.CLOSING)},
        answers={200: ("Closed", work_examples.CLOSED)},
        errors=(400, 403, 404, 409),
    )
    def patch(self, request: Request, name: str, number: str) -> Response:
        """Write its report."""
        return close_cycle(request, name, number)
