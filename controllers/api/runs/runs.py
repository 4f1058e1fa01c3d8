"""`/workflows/{name}/runs`: start runs, follow them, report their steps, cancel them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.idempotency_key import key_in
from controllers.api.proposals.decisions import key_of
from controllers.api.runs.serializers import (
    RunCancelSerializer,
    RunListSerializer,
    RunSerializer,
    RunStartSerializer,
    StepClaimSerializer,
    StepListSerializer,
    StepReportSerializer,
)
from controllers.engine import run_lifecycle
from controllers.models import WorkflowRun
from controllers.workflows import runs
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View, find, kind_named
from resources.api.schema import header, operation, path, query
from resources.documents.problems import (
    forbidden,
    invalid,
    missing,
)
from resources.tables.models import AgentToken
from resources.usecases.access_rules import OPERATE, STOP, Rule, agents, api, rules

NAME = path("name", "The workflow's name.")
ID = path("id", "The run's number.")
STEP = path("step", "The step's number in the run, or its name.")
STATES = ("ready", "running")


class Running(View):
    """An endpoint about runs: tokens need the scope to write, people their role."""

    tag = "Workflows"
    write_scope = "runs:write"


def starter(request: Request) -> User | AgentToken:
    """Return who acts: a person, or an agent by its token."""
    if isinstance(request.auth, AgentToken):
        return request.auth
    if not isinstance(request.user, User):
        raise forbidden("Sign in first.")
    return request.user


def found(request: Request, name: str, text: str) -> WorkflowRun:
    """Return a run that the principal may read, or answer 404."""
    key = key_of(text, "run")
    run = runs.visible(principal_of(request)).filter(pk=key, workflow__name=name).first()
    if run is None:
        raise missing(f"There is no run/{key} of workflow/{name[:253]}.")
    return run


class Runs(Running):
    """The runs of one workflow."""

    rights = api(POST=Rule(roles=OPERATE, bearer="runs:write"))
    parameters = {"GET": ("state", "limit", "cursor")}

    @operation(
        "listRuns",
        "List the runs of a workflow, newest first",
        parameters=[
            NAME,
            query("state", "Only those in this state, or `open`."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: RunListSerializer},
        errors=(400,),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return one page of what the principal may read."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, f"runs/{name}")
        rows = runs.visible(principal_of(request)).filter(workflow__name=name)
        rows = narrowed(request, rows).order_by("-pk")
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows[: most + 1])
        return Response(RunListSerializer.page(kept, most, cursor))

    @operation(
        "startRun",
        "Start a run with the declaration as it is now",
        parameters=[
            NAME,
            header(
                "Idempotency-Key",
                "A name of your request: repeated, it starts nothing new.",
                maxLength=200,
            ),
        ],
        request=RunStartSerializer,
        body_may_be_missing=True,
        answers={200: RunSerializer, 201: RunSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Start a run for a person or an agent."""
        body = RunStartSerializer.read_body(request)
        wish = runs.RunRequest(
            find(request, kind_named("workflow"), name).pk,
            body["correlation_id"],
            body["trigger"] or "manual",
            body["inputs"],
            key_in(request),
        )
        started = runs.start(wish, by=starter(request), now=timezone.now())
        return Response(RunSerializer.show(started.run), status=201 if started.new else 200)


def narrowed(request: Request, rows: QuerySet[WorkflowRun]) -> QuerySet[WorkflowRun]:
    """Apply the filters of a list."""
    state = request.query_params.get("state")
    if state is None:
        return rows
    if state not in ("open", *run_lifecycle.STATES):
        raise invalid("There is no such state.", allowed=["open", *run_lifecycle.STATES])
    return rows.filter(state__in=run_lifecycle.OPEN if state == "open" else (state,))


class RunRecord(Running):
    """One run."""

    rights = api()

    @operation(
        "readRun",
        "Read a run with its steps",
        parameters=[NAME, ID],
        answers={200: RunSerializer},
        errors=(404,),
    )
    def get(self, request: Request, name: str, id: str) -> Response:  # noqa: A002
        """Return it."""
        return Response(RunSerializer.show(found(request, name, id)))


class Cancel(Running):
    """The end of one run."""

    rights = rules(POST=Rule(roles=STOP, bearer="runs:write"))
    always_heard = True

    @operation(
        "cancelRun",
        "End a run where it stands; what is done stays done",
        parameters=[NAME, ID],
        request=RunCancelSerializer,
        answers={200: RunSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str, id: str) -> Response:  # noqa: A002
        """Cancel it for a person who may stop things, or the agent that leads it."""
        reason = RunCancelSerializer.read_body(request)["reason"]
        run, by = found(request, name, id), starter(request)
        ended = runs.cancel(run.pk, reason, by=by, now=timezone.now())
        return Response(RunSerializer.show(ended))


class StepReport(Running):
    """One step of one run."""

    rights = rules(POST=agents("runs:write"))

    @operation(
        "reportStep",
        "Begin a step of yours, say how far it is, and how it ended",
        parameters=[NAME, ID, STEP],
        request=StepReportSerializer,
        answers={200: StepClaimSerializer},
        errors=(400, 403, 404, 409, 423),
    )
    def post(self, request: Request, name: str, id: str, step: str) -> Response:  # noqa: A002
        """Take what the step's agent says."""
        if not isinstance(request.auth, AgentToken):
            raise forbidden("Only the step's agent reports it: use an agent's token.")
        said: Any = StepReportSerializer.read_body(request)
        run = found(request, name, id)
        agent = request.auth.agent
        row = runs.report(run.pk, step, said, agent=agent, now=timezone.now())
        return Response(StepClaimSerializer.show(row))


class Steps(Running):
    """The steps that wait for an agent."""

    rights = rules(GET=agents("resources:read"))
    parameters = {"GET": ("state", "limit", "cursor")}

    @operation(
        "listSteps",
        "List the steps that wait for this token's agent, oldest first",
        parameters=[
            query("state", "`ready` to be begun (as usual), or `running`."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: StepListSerializer},
        errors=(400, 403),
    )
    def get(self, request: Request) -> Response:
        """Return one page."""
        if not isinstance(request.auth, AgentToken):
            raise forbidden("Steps wait for agents: use an agent's token.")
        state = request.query_params.get("state", "ready")
        if state not in STATES:
            raise invalid("There is no such state.", allowed=list(STATES))
        most, cursor = parameters.limit(request), parameters.Cursor(request, "steps")
        rows = runs.steps_for(request.auth.agent, state, timezone.now())
        if after := cursor.after():
            rows = rows.filter(pk__gt=int(after))
        kept = list(rows[: most + 1])
        return Response(StepListSerializer.page(kept, most, cursor))
