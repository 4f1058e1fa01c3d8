"""`/controllers/{name}/…`: what a process reports that runs a controller outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import outside
from controllers.api import documents, work_examples
from controllers.api import work_documents as work
from controllers.api.base import CONTROLLER
from controllers.api.decisions import body_of, flag_in
from controllers.api.findings import findings_in
from controllers.api.reading import count_in, number_in, object_in, short_in, word_in
from controllers.engine.cycle import PHASES
from controllers.outside.ending import CUT_SHORT
from resources.api import parameters
from resources.api.base import View
from resources.api.problems import Refused, forbidden, invalid, not_found
from resources.api.schema import operation, path, query
from resources.models import AgentToken, Resource

NUMBER = path("number", "The cycle's number.")
REFUSAL = "Only the process that runs it outside reports on it."
LONGEST_ERROR = 500
MOST_WATCHED = 10**7
LONGEST_PHASE = 10**9


class Outside(View):
    """An endpoint for the process that runs a controller outside."""

    tag = "Outside controllers"
    write_scope = "cycles:write"
    refusal = REFUSAL


class Findings(Outside):
    """What was found about some resources."""

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
        request=("Findings", work_examples.FINDINGS),
        answers={200: ("FindingResults", work_examples.HEARD)},
        errors=(400, 403, 404, 409, 413, 415),
    )
    def post(self, request: Request, name: str, number: str) -> Response:
        """Take each finding that can be taken."""
        row, body = bearer(request, name), body_of(request, ("fence", "findings"))
        place = outside.Place(cycle_of(number), number_in(body, "fence"))
        dry_run = parameters.flag(request, "dryRun")
        kind, now = str(row.spec.get("targetKind")).lower(), timezone.now()
        reports = findings_in(body, kind)
        with as_problems():
            heard = outside.report(row, place, reports, now, dry_run=dry_run)
            told = outside.told(outside.declared(row), now)
        items = [work.heard(each, kind) for each in heard]
        return Response({"items": items, **work.told(told)})


class Heard(Outside):
    """A process that is still there."""

    @operation(
        "hearController",
        "Say that you are still there, and hear what people said",
        parameters=[CONTROLLER],
        request=("Pulse", work_examples.PULSE),
        answers={200: ("Told", work_examples.TOLD)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Prolong the lease of an open cycle, if its fence is given."""
        row, body = bearer(request, name), body_of(request, ("fence",))
        fence = number_in(body, "fence") if "fence" in body else None
        with as_problems():
            told = outside.heartbeat(row, fence, timezone.now())
        return Response(work.told(told))


def open_cycle(request: Request, name: str) -> Response:
    """Open a cycle for the process that asks."""
    row, body = bearer(request, name), body_of(request, ("full",))
    full = flag_in(body, "full") if "full" in body else True
    holder = f"token/{getattr(request.auth, 'key_id', '')}"
    with as_problems():
        begun = outside.begin(row, holder, timezone.now(), full=full)
    return Response(work.begun(begun, row), status=201)


def close_cycle(request: Request, name: str, number: str) -> Response:
    """Close a cycle as the process that ran it says."""
    row = bearer(request, name)
    body = body_of(request, ("fence", "outcome", "error", "counts", "times"))
    end, now = end_in(body), timezone.now()
    with as_problems():
        cycle = outside.close(row, cycle_of(number), number_in(body, "fence"), end, now)
        told = outside.told(outside.declared(row), now)
    return Response({"cycle": documents.cycle_summary(cycle, row), **work.told(told)})


def end_in(body: dict[str, Any]) -> outside.End:
    """Read how a cycle ended."""
    outcome: Any = word_in(body, "outcome", tuple(CUT_SHORT))
    error = short_in(body, "error", LONGEST_ERROR)
    if error and outcome != "failed":
        raise invalid("Only a cycle that failed has an error.", "/error")
    counts = object_in(body, "counts")
    if unknown := sorted(set(counts) - {"watched"}):
        detail = f"{unknown[0][:80]!r} is counted here."
        raise invalid(detail, "/counts", allowed=["watched"])
    watched = count_in(counts, "watched", MOST_WATCHED)
    return outside.End(outcome, error, watched, times_in(object_in(body, "times")))


def times_in(given: dict[str, Any]) -> dict[str, float]:
    """Read how many milliseconds each phase took."""
    for name, value in given.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if name not in PHASES or not number or not 0 <= value <= LONGEST_PHASE:
            raise invalid("times has the milliseconds of phases.", "/times", allowed=[*PHASES])
    return given


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


@contextmanager
def as_problems() -> Iterator[None]:
    """Answer what the use cases refuse."""
    try:
        yield
    except outside.Missing as error:
        raise not_found(str(error)) from None
    except outside.Replaced as error:
        raise Refused(409, "fenced", str(error)) from None
    except outside.Refused as error:
        raise Refused(409, "refused", str(error)) from None
