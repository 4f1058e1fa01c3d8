"""Runs and their steps as the API takes and shows them; agents' texts stay as they are."""

from __future__ import annotations

import uuid
from typing import Any, get_args

from controllers.api.base.fields import STORY
from controllers.decisions import holds
from controllers.engine import run_lifecycle
from controllers.models import RunStep, WorkflowRun
from controllers.workflows import runs
from controllers.workflows.runs.run_end import cost_of
from controllers.workflows.runs.run_plan import ErrorClass
from resources.api import fields
from resources.api.base import STORY as STORY_PATTERN
from resources.api.fields import AT, bad_value
from resources.api.serializer_base import ApiSerializer, Body, PageSerializer
from resources.tables import ledger

LONGEST_TEXT = 2_000
LARGEST = 64 * 1024
LARGEST_NUMBER = 10**15
LONGEST_CURRENCY = 8
INPUTS = {"customer": "c-4711"}


class Words(fields.Text):
    """A text in somebody's words: without what stands around it, and without NUL."""

    def to_internal_value(self, data: Any) -> Any:
        """Read it."""
        if not isinstance(data, str) or len(data.strip()) > (self.longest or 0) or "\x00" in data:
            raise self.wrong(f"is a text of up to {self.longest:,} characters.")
        return data.strip()


class RunStory(fields.Text):
    """The id that all events of a run carry; without one it is the request's."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            "All events of the run carry it.", schema={"maxLength": 64}, example=STORY, **kwargs
        )

    def run_validation(self, data: Any = "") -> str:
        """Read it, or take the request's."""
        found: str = super().run_validation(data)
        if found and not STORY_PATTERN.fullmatch(found):
            raise self.wrong("has up to 64 letters, digits, dots, hyphens and _.")
        return found or ledger.correlation.get() or str(uuid.uuid4())


class RunCostSerializer(ApiSerializer):
    """What has been used; one run is counted in one currency."""

    tokens = fields.Count(largest=LARGEST_NUMBER, null=True, required=False, example=1200)
    cost = fields.Number(least=0, largest=LARGEST_NUMBER, required=False, example=0.02)
    currency = fields.Text(
        longest=LONGEST_CURRENCY,
        printable=True,
        required=False,
        detail="currency is a short text, such as EUR.",
        example="EUR",
    )

    def refuse_unknown(self, data: Any) -> None:
        """Refuse what is no cost."""
        if not isinstance(data, dict) or set(data) - set(self.attributes):
            raise bad_value("cost has tokens, cost and currency.")

    def validate(self, attrs: Any) -> Any:
        """Refuse money of no currency."""
        if attrs["cost"] and not attrs["currency"]:
            raise bad_value("Say in which currency.", "/currency")
        return runs.Cost(attrs["tokens"] or 0, float(attrs["cost"] or 0), attrs["currency"])


class RunStartSerializer(ApiSerializer):
    """What is to be run."""

    trigger = Words("What it is started for.", longest=200, required=False, example="manual")
    inputs = fields.Object(largest=LARGEST, required=False, example=INPUTS)
    correlation_id = RunStory(required=False)


class RunSummarySerializer(ApiSerializer):
    """A run."""

    id = fields.TextOf(source="pk", example="12")
    workflow = fields.TextOf("Such as `workflow/release`.", example="workflow/churn-response")
    state = fields.Word(run_lifecycle.STATES, example="executing")
    outcome = fields.Text(
        "How it ended: completed, compensated, failed, partial, cancelled …", required=False
    )
    reason = fields.Text("Why it ended so.", required=False)
    allowed = fields.ListOf(
        fields.Text(),
        "The verbs that fit its state.",
        example=["block", "complete", "fail", "compensate"],
    )
    generation = fields.Count("Of the workflow it was started with.", example=3)
    revision = fields.TextOf("The revision of the workflow it was started with.", example="1207")
    trigger = fields.Text("What it was started for.", example="manual")
    started_by = fields.Text("Such as `person/ines`.", example="person/ines")
    created_at = fields.Time()
    started_at = fields.Time(required=False, example=AT)
    ends_at = fields.Time(required=False, example="2026-02-25T12:00:00Z")
    ended_at = fields.Time(required=False)
    retries = fields.Count(required=False, example=0)
    cost_accumulated = RunCostSerializer(required=False)
    correlation_id = RunStory()

    def get_allowed(self, run: WorkflowRun) -> list[str]:
        """Name the verbs that fit."""
        state: Any = run.state
        return list(run_lifecycle.verbs(state))

    def get_cost_accumulated(self, run: WorkflowRun) -> Any:
        """Sum up what was used."""
        return cost_of(run)


class RunStepSerializer(ApiSerializer):
    """A step of a run, or the undoing of one."""

    number = fields.Count(example=1)
    name = fields.Text(example="score")
    undoes = fields.Flag("Whether it takes another step back.", example=False)
    gate = fields.Flag("People let it pass, by a proposal.", example=False)
    agent = fields.Text(example="churn-watcher")
    action = fields.Text(example="Confirm the risk with the newest orders and tickets")
    state = fields.Word(run_lifecycle.STEP_STATES, example="running")
    ready = fields.Flag("Whether its agent may begin it.", example=False)
    allowed = fields.ListOf(
        fields.Text(),
        "What its agent may say about it.",
        example=["progress", "complete", "fail"],
    )
    attempts = fields.Count(example=1)
    not_before = fields.Time(required=False)
    deadline = fields.Time(required=False, example="2026-02-25T10:05:00Z")
    started_at = fields.Time(required=False, example=AT)
    ended_at = fields.Time(required=False)
    error_class = fields.Word(get_args(ErrorClass), required=False)
    error = fields.Text("In its agent's words.", required=False)
    message = fields.Text("In its agent's words.", required=False)
    result = fields.Object("What it left.", required=False)
    proposal = fields.TextOf(
        "What people are asked about it.", source="proposal_id", required=False
    )

    def get_ready(self, row: RunStep) -> bool:
        """Say whether its agent may begin it."""
        return row.ready and row.state == "pending"

    def get_allowed(self, row: RunStep) -> list[str]:
        """Name what its agent may say."""
        state: Any = row.state
        return list(run_lifecycle.said(state))

    def get_result(self, row: RunStep) -> Any:
        """Return what it left, if it did."""
        return row.result or None


class RunSerializer(RunSummarySerializer):
    """A run with its steps."""

    inputs = fields.Object(example=INPUTS)
    steps = RunStepSerializer(many=True)

    def get_steps(self, run: WorkflowRun) -> Any:
        """Return its steps in their order."""
        return run.steps.order_by("number")


class RunListSerializer(PageSerializer):
    """One page of runs."""

    items = RunSummarySerializer(many=True)


class StepReportSerializer(ApiSerializer):
    """What an agent says about a step of its own."""

    verb = fields.Word(
        run_lifecycle.SAID,
        detail="Say what became of it.",
        needed="Say what became of it.",
        example="complete",
    )
    fence = fields.Count(
        "The one that came with the start; needed after it.",
        largest=LARGEST_NUMBER,
        null=True,
        required=False,
        example=1,
    )
    message = Words(longest=LONGEST_TEXT, required=False, example="The risk is real.")
    result = fields.Object(largest=LARGEST, required=False, example={"riskScore": 0.8})
    error_class = fields.Word(
        get_args(ErrorClass), required=False, detail="There is no such class of errors."
    )
    error = Words(longest=LONGEST_TEXT, required=False)
    cost = RunCostSerializer(required=False)

    def validate(self, attrs: Any) -> Any:
        """Ask for the fence that came with the start."""
        if attrs["fence"] is None and attrs["verb"] != "start":
            raise bad_value("Send the fence that came with the start.", "/fence")
        said = attrs | {
            "error_class": attrs["error_class"] or "agent",
            "cost": attrs["cost"] or runs.Cost(),
        }
        return runs.AgentStepReport(
            attrs["verb"], **{k: v for k, v in said.items() if k != "verb"}
        )


class StepWorkSerializer(ApiSerializer):
    """A step that waits for its agent."""

    run = fields.TextOf(source="run.pk", example="12")
    workflow = fields.TextOf(source="run.workflow", example="workflow/churn-response")
    correlation_id = RunStory(source="run.correlation_id")
    inputs = fields.Object(source="run.inputs", example=INPUTS)
    key = fields.Text(
        "The same for every attempt: do it once.",
        example="5c0e5d0e7c1b4f0e9d3a5c0e5d0e7c1b4f0e9d3a5c0e5d0e7c1b4f0e9d3a5c0e",
    )
    step = RunStepSerializer()

    def get_step(self, row: RunStep) -> RunStep:
        """Return the step itself."""
        return row


class StepClaimSerializer(StepWorkSerializer):
    """The right to do a step, or what became of it."""

    fence = fields.Count(example=1)
    epoch = fields.Text(
        "Where the holds stood: it moves with every change of theirs.", example="7"
    )

    def get_epoch(self, _: RunStep) -> str:
        """Say where the holds stand."""
        return str(holds.epoch())


class StepListSerializer(PageSerializer):
    """One page of steps."""

    items = StepWorkSerializer(many=True)


class RunCancelSerializer(ApiSerializer):
    """Why a run ends."""

    reason = Words(longest=LONGEST_TEXT, needed="Say why.", example="The customer has left.")

    def validate(self, attrs: Body) -> Body:
        """Ask for a reason."""
        if not attrs["reason"]:
            raise bad_value("Say why.", "/reason")
        return attrs
