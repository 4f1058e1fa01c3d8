"""`/controllers/{name}/…`: ask for a cycle, look at what it would do, or start it again."""

from __future__ import annotations

import time
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import (
    CONTROLLER,
    Operating,
    find_controller,
)
from controllers.api.controllers.serializers import (
    CycleSerializer,
    PreviewSerializer,
    ReasonSerializer,
    ReconciledSerializer,
    RequestedSerializer,
    mentioned,
)
from controllers.worker import controller_commands
from resources.api import parameters
from resources.api.authentication import actor_of
from resources.api.feed import release
from resources.api.schema import operation, query
from resources.documents.kind import Document
from resources.documents.problems import invalid
from resources.tables.ledger import instant
from resources.tables.models import Resource
from resources.usecases.access_rules import OPERATE, at, rules

PATIENCE_SECONDS = 30.0
LONGEST_DELAY = timedelta(days=30)


class Reconcile(Operating):
    """One cycle of one controller."""

    rights = rules(POST=at("organisation", *OPERATE))
    parameters = {"POST": ("wait", "after", "dryRun")}

    @operation(
        "reconcile",
        "Ask a controller for a cycle over everything it watches",
        parameters=[
            CONTROLLER,
            query("wait", "Wait up to 30 seconds for the cycle, and return it.", type=bool),
            query("after", "How long the loop holds it back, such as `30s`."),
            query("dryRun", "Return what a cycle would find and plan; change nothing.", type=bool),
        ],
        request=ReasonSerializer,
        body_may_be_missing=True,
        answers={200: ReconciledSerializer, 202: RequestedSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Look, or queue the request and perhaps wait."""
        after = parameters.duration(request, "after", most=LONGEST_DELAY) or timedelta(0)
        wait, dry_run = parameters.flag(request, "wait"), parameters.flag(request, "dryRun")
        reason = ReasonSerializer.read_body(request)["reason"].strip()
        now = timezone.now()
        row = find_controller(request, name)
        if dry_run:
            return Response(PreviewSerializer.show(controller_commands.preview(name, now=now)))
        last = controller_commands.request(
            name, actor=actor_of(request), now=now, message=reason, after=after
        )
        cycle = (
            controller_commands.wait(name, last, seconds=PATIENCE_SECONDS, sleep=rest)
            if wait
            else None
        )
        if cycle is not None:
            seen = mentioned(cycle)
            return Response(CycleSerializer.show(cycle, controller=row, seen=seen))
        asked = {"by": str(actor_of(request)), "runAt": instant(now + after)}
        return accepted(row, asked | ({"reason": reason} if reason else {}), last)


class ResetBreaker(Operating):
    """A controller that was stopped."""

    rights = rules(POST=at("organisation", *OPERATE))

    @operation(
        "resetBreaker",
        "Let a stopped controller try one cycle; a person says why",
        parameters=[CONTROLLER],
        request=ReasonSerializer,
        answers={202: RequestedSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Close the breaker half, and queue the trial."""
        reason = ReasonSerializer.read_body(request)["reason"].strip()
        now = timezone.now()
        if not reason:
            raise invalid("Say in reason why it may run again.", "/reason")
        row = find_controller(request, name)
        last = controller_commands.reset_breaker(
            name, actor=actor_of(request), now=now, reason=reason
        )
        asked = {"by": str(actor_of(request)), "runAt": instant(now), "reason": reason}
        return accepted(row, asked, last)


def accepted(row: Resource, asked: Document, last: int) -> Response:
    """Say that the loop will run it, and where its cycles will be."""
    body = {"controller": str(row), "request": asked, "lastCycle": last}
    return Response(body, status=202, headers={"Location": reverse("api-cycles", args=[row.name])})


def rest(seconds: float) -> None:
    """Sleep without keeping a database connection from others."""
    release()
    time.sleep(seconds)
