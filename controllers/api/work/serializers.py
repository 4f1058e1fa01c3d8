"""Work for agents and outside controllers as the API takes and shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from controllers.api.base.fields import DIGEST, STORY, Reference
from controllers.execution.agent_tasks import LEASE, Claim
from controllers.execution.progress import ALL, LONGEST_NOTE
from controllers.execution.results import StepResult, Word
from controllers.models import Step
from resources.api import fields
from resources.api.fields import bad_value
from resources.api.serializer_base import ApiSerializer, Body, PageSerializer

LONGEST_DETAIL = 500
LARGEST_OUTPUTS = 16_384
FENCE = "Send it with every call about this claim; an older one is refused."
EPOCH = "It moves with every change of the holds; send the one you last saw."
NOTE = "A short sentence; people see it as your claim."
RESTART = {"agent": "copywriter"}
# How a failure is meant: try again, never will, as told, or nobody knows.
FAILURES: Mapping[str, Word] = {
    "transient": "transient",
    "permanent": "failed",
    "stopped": "stopped",
    "unknown": "unknown",
}


class ActionSerializer(ApiSerializer):
    """One step of a proposal that an agent or an outside controller is to do."""

    id = fields.Key(source="pk", example=31)
    proposal = fields.Key(source="proposal_id", example=17)
    sequence = fields.Key(example=1)
    operation = fields.Text(example="restart")
    parameters = fields.Object(example=RESTART)
    target = Reference(source="proposal.resource", example="agent/copywriter")
    for_ = fields.Text("Who may claim it, such as `agent/scribe`.", example="agent/copywriter")
    state = fields.Word(Step.State.values, example="waiting")
    undoes = fields.Flag("Whether it takes another step back.", example=False)
    key = fields.Text(
        "The same for every attempt: whoever is told twice does it once.", example=DIGEST
    )
    attempts = fields.Count(example=0)
    why = fields.Text(
        source="proposal.explanation", required=False, example="copywriter does not answer."
    )
    error = fields.Text(required=False)
    percent = fields.Count(required=False, schema={"maximum": ALL})
    note = fields.Text(NOTE, schema={"maxLength": LONGEST_NOTE}, required=False)
    outputs = fields.Object("What it left.", required=False)
    correlation_id = fields.Text(source="proposal.correlation_id", required=False, example=STORY)
    execute_before = fields.Time(
        "It cannot be claimed later.",
        source="proposal.execute_before",
        required=False,
        example="2026-02-25T11:00:00Z",
    )
    deadline = fields.Time("A claim that is not prolonged ends here.", required=False)
    started_at = fields.Time(required=False)
    ended_at = fields.Time(required=False)

    def get_for_(self, step: Step) -> str:
        """Name who may claim it."""
        return f"{step.executor}/{step.agent}"

    def get_outputs(self, step: Step) -> Any:
        """Return what it left, if it did."""
        return dict(step.result) or None


DONE = {
    "state": "done",
    "attempts": 1,
    "outputs": {"pid": 4711},
    "startedAt": fields.AT,
    "endedAt": "2026-02-25T10:00:20Z",
}


class ActionListSerializer(PageSerializer):
    """One page of work."""

    items = ActionSerializer(many=True)


class Claimed(NamedTuple):
    """An action, and the right to do it."""

    id: int
    claim: Claim


class ClaimSerializer(ApiSerializer):
    """The right to do one action until a time."""

    id = fields.Key(example=31)
    fence = fields.Ordinal(FENCE, source="claim.fence", example="4")
    epoch = fields.Ordinal(EPOCH, source="claim.epoch", example="12")
    deadline = fields.Time(source="claim.deadline", example="2026-02-25T10:01:00Z")
    ttl_seconds = fields.Count("How long it lasts without a word from you.", example=60)
    key = fields.Text(
        "Hand it on to whatever you call, so that it happens once.",
        source="claim.key",
        example=DIGEST,
    )
    operation = fields.Text(source="claim.operation", example="restart")
    parameters = fields.Object(source="claim.parameters", example=RESTART)
    target = Reference(source="claim.target", example="agent/copywriter")

    def get_ttl_seconds(self, _: Claimed) -> int:
        """Say how long a claim lasts."""
        return int(LEASE.total_seconds())


class BeatSerializer(ApiSerializer):
    """A claim that goes on."""

    fence = fields.Ordinal(FENCE, example="4")
    epoch = fields.Ordinal(EPOCH, example="12")


class ProgressSerializer(BeatSerializer):
    """How far a claimed action is."""

    percent = fields.Count(
        largest=ALL, schema={"maximum": ALL}, null=True, required=False, example=40
    )
    note = fields.Text(NOTE, longest=LONGEST_NOTE, required=False, example="Draining the queue.")

    def validate(self, attrs: Body) -> Body:
        """Ask for one of them."""
        if attrs["percent"] is None and not attrs["note"].strip():
            raise bad_value("Say percent, note, or both.", "/percent")
        return attrs


class ReportedSerializer(ApiSerializer):
    """What became of an action; a failure has a class."""

    fence = fields.Ordinal(FENCE, example="4")
    detail = fields.Text("What happened, in a sentence.", longest=LONGEST_DETAIL, required=False)
    outputs = fields.Object(
        "What it left, for people to read; up to 16 kB.",
        largest=LARGEST_OUTPUTS,
        required=False,
        example={"pid": 4711},
    )
    outcome = fields.Word(
        ["success", "failure"],
        needed="outcome is one of success, failure.",
        example="success",
    )
    class_ = fields.Word(list(FAILURES), "Of a failure: what to make of it.", required=False)

    def validate(self, attrs: Body) -> Body:
        """Put together what became of it."""
        given = attrs["class_"]
        if attrs["outcome"] == "failure" and not given:
            raise bad_value(f"class is one of {', '.join(FAILURES)}.", "/class", [*FAILURES])
        if attrs["outcome"] == "success" and given:
            raise bad_value("Only a failure has a class.", "/class")
        word = FAILURES[given] if given else "done"
        return {
            "fence": attrs["fence"],
            "answer": StepResult(word, attrs["detail"], attrs["outputs"]),
        }
