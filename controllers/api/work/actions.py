"""`/actions`: work for agents and outside controllers to claim, go on with and report on."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.idempotency_key import key_in
from controllers.api.proposals.decisions import key_of
from controllers.api.work.serializers import (
    DONE,
    ActionListSerializer,
    ActionSerializer,
    BeatSerializer,
    Claimed,
    ClaimSerializer,
    ProgressSerializer,
    ReportedSerializer,
)
from controllers.execution import agent_pull, agent_tasks
from controllers.execution.agent_pull import LISTED, Held
from controllers.execution.progress import Progress
from resources.api import parameters
from resources.api.base import View
from resources.api.schema import header, operation, path, query
from resources.api.serializer_base import ApiSerializer, Body, EmptySerializer
from resources.documents.problems import (
    forbidden,
    invalid,
)
from resources.tables.models import AgentToken, Resource
from resources.usecases.access_rules import agents, api, rules

ID = path("id", "The action's number.")
KEY = header(
    "Idempotency-Key", "A name of your request: repeated, it does nothing new.", maxLength=200
)
REFUSAL = "Only the agent or outside controller that it is offered to does it."


class Working(View):
    """An endpoint for whoever does the work."""

    tag = "Work"
    write_scope = "actions:write"
    refusal = REFUSAL


class Actions(Working):
    """Work to be done, and done."""

    rights = api()
    parameters = {"GET": ("state", "limit", "cursor")}

    @operation(
        "listActions",
        "List your work, the oldest first",
        parameters=[
            query("state", f"Only those that are {', '.join(LISTED)}."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: ActionListSerializer},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page; people see everybody's."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "actions")
        worker = request.auth.agent if isinstance(request.auth, AgentToken) else None
        rows = agent_pull.listed(worker, state_of(request), timezone.now())
        if after := cursor.after():
            rows = rows.filter(pk__gt=int(after))
        kept = list(rows[: most + 1])
        return Response(ActionListSerializer.page(kept, most, cursor))


class Claim(Working):
    """The right to do one action."""

    rights = rules(POST=agents("actions:write"))

    @operation(
        "claimAction",
        "Claim an action; of many who try one succeeds",
        parameters=[ID, KEY],
        answers={200: ClaimSerializer},
        errors=(409, 413, 415, 423),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Give it a deadline, a fence and the present epoch."""
        EmptySerializer.read_body(request)
        key, name, now = key_of(id, "action"), key_in(request), timezone.now()
        claim = agent_tasks.claim(key, worker_of(request), now, name)
        return Response(ClaimSerializer.show(Claimed(key, claim)))


class Heartbeat(Working):
    """A claim that goes on."""

    rights = rules(POST=agents("actions:write"))

    @operation(
        "keepAction",
        "Go on with a claim, unless a person said no",
        parameters=[ID],
        request=BeatSerializer,
        answers={200: ClaimSerializer},
        errors=(400, 403, 404, 409, 423),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Prolong it."""
        held, body = held_in(request, id, BeatSerializer)
        claim = agent_pull.heartbeat(held, body["epoch"], timezone.now())
        return Response(ClaimSerializer.show(Claimed(held.step, claim)))


class ProgressOf(Working):
    """How far a claimed action is."""

    rights = rules(POST=agents("actions:write"))

    @operation(
        "tellProgress",
        "Say how far an action is; it goes on as with a heartbeat",
        parameters=[ID],
        request=ProgressSerializer,
        answers={200: ClaimSerializer},
        errors=(400, 403, 404, 409, 423),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Note it; people read it as what the worker claims."""
        held, body = held_in(request, id, ProgressSerializer)
        progress = Progress(body["percent"], body["note"])
        claim = agent_pull.heartbeat(held, body["epoch"], timezone.now(), progress)
        return Response(ClaimSerializer.show(Claimed(held.step, claim)))


class Result(Working):
    """What became of a claimed action."""

    rights = rules(POST=agents("actions:write"))

    @operation(
        "reportAction",
        "Say what became of an action; what comes too late is only noted",
        parameters=[ID, KEY],
        request=ReportedSerializer,
        answers={200: (ActionSerializer, DONE)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Settle it."""
        held, body = held_in(request, id, ReportedSerializer)
        key = key_in(request)
        step = agent_pull.report(held, body["answer"], key, timezone.now())
        return Response(ActionSerializer.show(step))


def state_of(request: Request) -> agent_pull.Listed | None:
    """Read which work is meant."""
    word = request.query_params.get("state")
    for each in LISTED:
        if word == each:
            return each
    if word is not None:
        raise invalid("There is no such state of work.", allowed=[*LISTED])
    return None


def worker_of(request: Request) -> Resource:
    """Return who works: the bearer of a token."""
    if not isinstance(request.auth, AgentToken):
        raise forbidden(REFUSAL)
    return request.auth.agent


def held_in(request: Request, text: str, serializer: type[ApiSerializer]) -> tuple[Held, Body]:
    """Return which claim is meant, with what is said about it; first who says it is looked at."""
    key, worker, body = key_of(text, "action"), worker_of(request), serializer.read_body(request)
    return Held(key, worker, body["fence"]), body
