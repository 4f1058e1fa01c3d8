"""`/workflows/{name}/runs`: start runs, follow them, report their steps, cancel them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import flow, roles, runs
from controllers.api import run_documents as documents
from controllers.api import run_examples as examples
from controllers.api.decisions import body_of, key_of
from controllers.api.reading import key_in
from controllers.api.run_reading import object_in, report_in, story_in, words_in
from controllers.models import WorkflowRun
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View, find, kind_named
from resources.api.problems import Refused, forbidden, invalid, not_found
from resources.api.schema import header, operation, path, query
from resources.kind import Document
from resources.models import AgentToken

NAME = path("name", "The workflow's name.")
ID = path("id", "The run's number.")
STEP = path("step", "The step's number in the run, or its name.")
STATES = ("ready", "running")


class Running(View):
    """An endpoint about runs: tokens need the scope to write, people their role."""

    tag = "Workflows"
    write_scope = "runs:write"


@contextmanager
def as_problems() -> Iterator[None]:
    """Answer what the use cases refuse."""
    try:
        yield
    except runs.Missing as error:
        raise not_found(str(error)) from None
    except runs.Forbidden as error:
        raise forbidden(str(error)) from None
    except roles.Denied as error:
        raise Refused(403, "forbidden", str(error), code=error.code) from None
    except runs.Stop as error:
        raise Refused(423, "stopped", str(error), epoch=str(error.epoch)) from None
    except (flow.Illegal, runs.Refused) as error:
        raise Refused(409, "refused", str(error), allowed=list(error.allowed)) from None


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
        raise not_found(f"There is no run/{key} of workflow/{name[:253]}.")
    return run


class Runs(Running):
    """The runs of one workflow."""

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
        answers={200: ("RunList", examples.RUNS)},
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
        page: Document = {"items": [documents.summary(each) for each in kept[:most]]}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)

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
        request=("RunStart", examples.START),
        answers={200: ("Run", examples.RUN), 201: ("Run", examples.RUN)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Start a run for a person or an agent."""
        body = body_of(request, ("trigger", "inputs", "correlationId"))
        wish = runs.Wish(
            find(request, kind_named("workflow"), name).pk,
            story_in(body),
            words_in(body, "trigger", 200) or "manual",
            object_in(body, "inputs"),
            key_in(request),
        )
        with as_problems():
            started = runs.start(wish, by=starter(request), now=timezone.now())
        return Response(documents.record(started.run), status=201 if started.new else 200)


def narrowed(request: Request, rows: QuerySet[WorkflowRun]) -> QuerySet[WorkflowRun]:
    """Apply the filters of a list."""
    state = request.query_params.get("state")
    if state is None:
        return rows
    if state not in ("open", *flow.STATES):
        raise invalid("There is no such state.", allowed=["open", *flow.STATES])
    return rows.filter(state__in=flow.OPEN if state == "open" else (state,))


class RunRecord(Running):
    """One run."""

    @operation(
        "readRun",
        "Read a run with its steps",
        parameters=[NAME, ID],
        answers={200: ("Run", examples.RUN)},
        errors=(404,),
    )
    def get(self, request: Request, name: str, id: str) -> Response:  # noqa: A002
        """Return it."""
        return Response(documents.record(found(request, name, id)))


class Cancel(Running):
    """The end of one run."""

    always_heard = True

    @operation(
        "cancelRun",
        "End a run where it stands; what is done stays done",
        parameters=[NAME, ID],
        request=("RunCancel", examples.CANCEL),
        answers={200: ("Run", examples.RUN)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, name: str, id: str) -> Response:  # noqa: A002
        """Cancel it for a person who may stop things, or the agent that leads it."""
        reason = words_in(body_of(request, ("reason",)), "reason", 2_000)
        if not reason:
            raise invalid("Say why.", "/reason")
        run, by = found(request, name, id), starter(request)
        with as_problems():
            ended = runs.cancel(run.pk, reason, by=by, now=timezone.now())
        return Response(documents.record(ended))


class StepReport(Running):
    """One step of one run."""

    @operation(
        "reportStep",
        "Begin a step of yours, say how far it is, and how it ended",
        parameters=[NAME, ID, STEP],
        request=("StepReport", examples.REPORT),
        answers={200: ("StepClaim", examples.CLAIM)},
        errors=(400, 403, 404, 409, 423),
    )
    def post(self, request: Request, name: str, id: str, step: str) -> Response:  # noqa: A002
        """Take what the step's agent says."""
        if not isinstance(request.auth, AgentToken):
            raise forbidden("Only the step's agent reports it: use an agent's token.")
        said, run = report_in(request), found(request, name, id)
        agent = request.auth.agent
        with as_problems():
            row = runs.report(run.pk, step, said, agent=agent, now=timezone.now())
        return Response(documents.claim(row))


class Steps(Running):
    """The steps that wait for an agent."""

    parameters = {"GET": ("state", "limit", "cursor")}

    @operation(
        "listSteps",
        "List the steps that wait for this token's agent, oldest first",
        parameters=[
            query("state", "`ready` to be begun (as usual), or `running`."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: ("StepList", examples.STEPS)},
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
        page: Document = {"items": [documents.work(each) for each in kept[:most]]}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)
