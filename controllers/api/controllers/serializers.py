"""Cycles, drift and alerts as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

from controllers.api.base.fields import Reference, Story
from controllers.engine import drift
from controllers.engine.cycle import PHASES
from controllers.engine.terms import Controller, Mode, Result, Severity, Urgency
from controllers.engine.terms import Word as Status
from controllers.loop import watchdog
from controllers.models import (
    Alert,
    Cycle,
    Delivery,
    Judgement,
    Proposal,
    Runtime,
    WorkItem,
)
from resources.api import fields
from resources.api.fields import AT, bad_value
from resources.api.serializer_base import ApiSerializer, Body, PageSerializer
from resources.documents.kind import Document
from resources.tables.ledger import instant

WHY = "2 of 4 KPIs miss their target: monthly-churn is 6.1 (wanted < 5 percent)."
ASKED_FOR = "The churn figures were corrected."
HIDDEN = "It is about a resource that you may not see."
CONTROLLER = "controller/domain-health"
GROWTH = "domain/growth"
LONGEST_REASON = 500
LONGEST_PHASE = 10**9
SCORE = "From 0 to 1; null: no data."


class ReasonSerializer(ApiSerializer):
    """Why somebody asks for something."""

    not_an_object = "Send an object with a reason."

    reason = fields.Text(
        "Why; people and the ledger will read it.",
        longest=LONGEST_REASON,
        required=False,
        example=ASKED_FOR,
    )


class RequestSerializer(ApiSerializer):
    """Who asked for a cycle, and when it runs."""

    by = fields.Text(example="person/alice")
    run_at = fields.Time()
    reason = fields.Text(required=False, example=ASKED_FOR)


class RequestedSerializer(ApiSerializer):
    """A cycle that was asked for."""

    controller = fields.Text(example=CONTROLLER)
    request = RequestSerializer()
    last_cycle = fields.Count("The cycle asked for has a larger number.", example=41)


class CycleTimesBase(ApiSerializer):
    """What the milliseconds of phases share."""

    def to_internal_value(self, data: Any) -> Body:
        """Read them; what is wrong is told of all."""
        if not isinstance(data, dict):
            raise bad_value("times is an object.")
        for name, value in data.items():
            number = type(value) in (int, float) and 0 <= value <= LONGEST_PHASE
            if name not in self.fields or not number:
                raise bad_value("times has the milliseconds of phases.", allowed=PHASES)
        return data


TIMES = {"watch": 37.641, "diff": 9.655, "plan": 1.181, "act": 0.033, "report": 72.384}
CycleTimesSerializer: Any = type(
    "CycleTimesSerializer",
    (CycleTimesBase,),
    {
        "__doc__": "The milliseconds of each phase.",
        **{name: fields.Number(required=False, example=TIMES.get(name)) for name in PHASES},
    },
)


class CycleSummarySerializer(ApiSerializer):
    """What a cycle came to."""

    controller = fields.TextOf("Such as `controller/domain-health`.", example=CONTROLLER)
    number = fields.Count(example=42)
    outcome = fields.Word(["running", *Cycle.Outcome.values], example="drift_reported")
    full = fields.Flag("Whether it covered everything the controller watches.", example=True)
    reasons = fields.ListOf(
        fields.Word([each.name.lower() for each in WorkItem.Reason]),
        example=["interval", "manual"],
    )
    requested_by = fields.Text("Such as `person/alice`.", required=False, example="person/alice")
    message = fields.Text("Why it was asked for.", required=False, example=ASKED_FOR)
    mode = fields.Word(get_args(Mode), example="warn")
    generation = fields.Count(example=3)
    revision = fields.TextOf("How far the changes of the organisation were read.", example="1207")
    holder = fields.Text("The process that ran it.", example="node-1-4711-5c0e5d0e")
    correlation_id = Story()
    started_at = fields.Time()
    finished_at = fields.Time(required=False, example="2026-02-25T10:00:00.120000Z")
    duration_ms = fields.Count(required=False, example=120)
    counts = fields.MapOf(
        fields.Count(),
        example={
            "watched": 6,
            "judged": 6,
            "drifted": 1,
            "actions": 1,
            "planned": 1,
            "hooks": 1,
        },
    )
    times = CycleTimesSerializer()

    def get_controller(self, _: Cycle) -> Any:
        """Name the controller."""
        return self._context["controller"]

    def get_outcome(self, cycle: Cycle) -> str:
        """Say what it came to, or that it runs."""
        return cycle.outcome or "running"

    def get_reasons(self, cycle: Cycle) -> list[str]:
        """Say why it was run."""
        return [each.name.lower() for each in WorkItem.Reason if cycle.reasons & each]

    def get_duration_ms(self, cycle: Cycle) -> int | None:
        """Say how long it took, once it is over."""
        return duration(cycle) if cycle.finished_at is not None else None


class CycleListSerializer(PageSerializer):
    """One page of cycles."""

    items = CycleSummarySerializer(many=True)


class CycleActionSerializer(ApiSerializer):
    """What a cycle did, or planned."""

    type = fields.Text(example="reconcile")
    operation = fields.Text(example="scale-agents")
    target = Reference("Such as `domain/growth`.", example=GROWTH)
    result = fields.Word(get_args(Result), example="planned")
    reason = fields.Text(required=False, example="ask")
    why = fields.Text(required=False, example="Bring the domain's agents back to strength")


class CycleErrorSerializer(ApiSerializer):
    """What stopped a cycle."""

    phase = fields.Text(example="diff")
    message = fields.Text(example="domain/growth: …")


class CycleResultSerializer(ApiSerializer):
    """The cycle summed up."""

    timestamp = fields.Time()
    resources_found = fields.Count(example=6)
    diffs_detected = fields.Count(example=1)
    decisions_made = fields.Count(example=1)
    execution_errors = fields.ListOf(fields.Text(), example=[])
    duration_ms = fields.Count(example=120)
    decisions = CycleActionSerializer(many=True)


class CycleSerializer(CycleSummarySerializer):
    """One run of the five phases; at most 200 hooks and actions are kept here."""

    hooks = fields.ListOf(
        fields.Object(),
        example=[
            {
                "target": GROWTH,
                "name": "budget-allows",
                "action": "check budget.status.utilizationRate < 0.9",
                "passed": True,
                "reason": "",
                "observed": {"budget.status.utilizationRate": 0.685},
            }
        ],
    )
    actions = CycleActionSerializer(many=True)
    error = CycleErrorSerializer(required=False, example=None)
    result = CycleResultSerializer()

    def get_hooks(self, cycle: Cycle) -> list[Document]:
        """Return the hooks that are about what may be seen."""
        return [each for each in cycle.hooks if each["target"] in self._context["seen"]]

    def get_actions(self, cycle: Cycle) -> list[Document]:
        """Return the actions that are about what may be seen."""
        return [each for each in cycle.actions if each["target"] in self._context["seen"]]

    def get_error(self, cycle: Cycle) -> Document | None:
        """Say what stopped it, as far as that may be seen."""
        if not cycle.error:
            return None
        known = not blamed(cycle) or blamed(cycle) in self._context["seen"]
        return {"phase": cycle.phase, "message": cycle.error if known else HIDDEN}

    def get_result(self, cycle: Cycle) -> Document:
        """Sum it up in seven fields: when, what was found, what was decided, what failed."""
        actions, error = self.get_actions(cycle), self.get_error(cycle)
        failures = [
            f"{each['target']}: {each['reason']}"
            for each in actions
            if each["result"] == "failure"
        ]
        told = [*failures, *([error["message"]] if error else [])]
        return {
            "timestamp": instant(cycle.started_at),
            "resourcesFound": cycle.counts.get("watched", 0),
            "diffsDetected": cycle.counts.get("drifted", 0),
            "decisionsMade": cycle.counts.get("actions", 0),
            "executionErrors": list(dict.fromkeys(told)),
            "durationMs": duration(cycle),
            "decisions": actions,
        }


def duration(cycle: Cycle) -> int:
    """Return how many milliseconds a cycle has taken."""
    lasted = (cycle.finished_at or cycle.started_at) - cycle.started_at
    return max(0, round(lasted.total_seconds() * 1000))


def mentioned(cycle: Cycle) -> set[str]:
    """Return the resources that the record of a cycle names."""
    named = {str(each["target"]) for each in (*cycle.hooks, *cycle.actions)}
    return named | {blamed(cycle)} - {""}


def blamed(cycle: Cycle) -> str:
    """Return the resource that the error of a cycle begins with, if it does."""
    first = cycle.error.partition(": ")[0]
    return first if "/" in first and " " not in first else ""


def each_shape(meaning: str) -> dict[str, object]:
    """Describe one dimension of drift."""
    return {"type": "object", "additionalProperties": True, "description": meaning}


class FindingBase(ApiSerializer):
    """What was concluded about a resource."""

    score = fields.Number(SCORE, allow_null=True, example=0.21)
    threshold = fields.Number(allow_null=True, example=0.15)
    drifted = fields.Flag(example=True)
    status = fields.Word(get_args(Status), example="False")
    reason = fields.Text(example="DriftDetected")
    message = fields.Text(example=WHY)
    dimensions = fields.MapOf(
        fields.Object(),
        "Each with its score and how many things it rests on.",
        schema={"properties": {each.name: each_shape(each.meaning) for each in drift.ALL}},
        example={"kpi": {"score": 0.5, "of": 4}},
    )
    evidence = fields.ListOf(
        fields.Object(),
        "What was missed or is not known, seen when and by whom.",
        example=[
            {
                "dimension": "kpi",
                "subject": "kpi/monthly-churn",
                "verdict": "missed",
                "desired": "< 5 percent",
                "observed": 6.1,
                "at": AT,
                "by": "agent/churn-watcher",
            }
        ],
    )


class PreviewItemSerializer(FindingBase):
    """What a cycle would conclude about one resource."""

    resource = Reference("Such as `domain/growth`.", example=GROWTH)
    hooks = fields.ListOf(fields.Object(), example=[])
    actions = fields.ListOf(fields.Object(), example=[])


class PreviewSerializer(ApiSerializer):
    """What a cycle would find and plan; nothing of it was done."""

    controller = fields.Text(example=CONTROLLER)
    dry_run = fields.Flag(example=True)
    counts = fields.MapOf(fields.Count(), example={"watched": 6})
    resources = PreviewItemSerializer(many=True)
    blocked = fields.Text("Why a real cycle would be refused.", required=False)

    def get_controller(self, found: Any) -> str:
        """Name the controller."""
        return f"controller/{found.controller}"

    def get_dry_run(self, _: Any) -> bool:
        """Say that nothing was done."""
        return True


class ReconciledSerializer(ApiSerializer):
    """The cycle that was waited for, or what one would do."""

    one_of = (CycleSerializer, PreviewSerializer)

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example of a cycle."""
        return CycleSerializer.example(**changes)


class PlanSerializer(ApiSerializer):
    """What a controller would do about a resource: the actions of its open proposals."""

    digest = fields.Text(
        example="feb1a2d05a93a743ba36d88da4b91da35f0ab69bbe46ecb8f55207052b5cd975"
    )
    mode = fields.Word(get_args(Mode), example="warn")
    actions = fields.ListOf(
        fields.Object(),
        example=[{"sequence": 2, "operation": "scale-agents", "disposition": "ask"}],
    )
    explanation = fields.Text(example=WHY)
    planned_at = fields.Time()
    correlation_id = Story()


class DeliverySerializer(ApiSerializer):
    """Whether it got to the service behind its channel; `in_app` is shown here only."""

    state = fields.Word(Delivery.State.values, example="sent")
    attempts = fields.Count(example=1)
    sent_at = fields.Time(required=False, example=AT)
    error = fields.Text("What went wrong last.", required=False)


class AlertSerializer(ApiSerializer):
    """What people were told, and whether it got to them."""

    id = fields.TextOf(source="pk", example="7")
    controller = fields.TextOf(example=CONTROLLER)
    resource = Reference("Such as `domain/growth`.", example=GROWTH)
    reason = fields.Text(example="Drift")
    channel = fields.Text(example="slack-growth")
    severity = fields.Word(get_args(Severity), example="warning")
    message = fields.Text(example=f"{GROWTH}: {WHY}")
    open = fields.Flag("Whether it still stands.", example=True)
    raised_at = fields.Time()
    resolved_at = fields.Time(required=False)
    correlation_id = Story()
    delivery = DeliverySerializer(required=False)

    def get_open(self, row: Alert) -> bool:
        """Say whether it still stands."""
        return row.resolved_at is None

    def get_delivery(self, row: Alert) -> Delivery | None:
        """Return the alert's own; later ones say that it is over or did not get out."""
        return min(row.deliveries.all(), key=lambda each: each.pk, default=None)


class AlertListSerializer(PageSerializer):
    """One page of alerts."""

    items = AlertSerializer(many=True)


class DriftItemSerializer(FindingBase):
    """What one controller last concluded about a resource, and how old that is."""

    controller = fields.TextOf(example=CONTROLLER)
    urgency = fields.Word(get_args(Urgency), example="medium")
    since = fields.Time()
    generation = fields.Count(example=3)
    judged_version = fields.TextOf(
        "A resource version: where this stands in the order of all changes.",
        source="version",
        example="1201",
    )
    evaluated_at = fields.Time()
    last_evaluated = fields.Time("When it was last known to hold.")
    stale = fields.Flag("The controller has stopped looking: nothing is known.", example=False)
    episode = fields.Object(example={"state": "drifting", "best": 0.21})
    alerts = AlertSerializer(many=True)
    plan = PlanSerializer(required=False)

    def to_representation(self, row: Judgement) -> Document:
        """Write a conclusion; one whose controller has stopped looking is not known to hold."""
        found = super().to_representation(row)
        if found["stale"]:
            found |= {"status": "Unknown", "reason": "ControllerStalled"}
        return found

    def get_threshold(self, _: Judgement) -> float | None:
        """Return from where on it counts as drift."""
        compiled = self._context["compiled"]
        return compiled.threshold if compiled else None

    def get_stale(self, row: Judgement) -> bool:
        """Say whether its controller has stopped looking."""
        runtime = getattr(row.controller, "runtime", None)
        return is_stale(runtime, self._context["compiled"], self._context["now"])

    def get_last_evaluated(self, row: Judgement) -> Any:
        """Say until when it was known to hold."""
        runtime = getattr(row.controller, "runtime", None)
        return last_evaluated(row, runtime, self._context["version"])

    def get_alerts(self, _: Judgement) -> list[Alert]:
        """Return the alerts that stand."""
        alerts: list[Alert] = self._context["alerts"]
        return alerts

    def get_plan(self, row: Judgement) -> Document | None:
        """Write what its controller would do, if it proposes something."""
        planned: list[Proposal] = self._context["planned"]
        if not planned:
            return None
        actions = [action for each in planned for action in each.actions]
        latest = planned[-1]
        return {
            "digest": row.plan,
            "mode": latest.mode,
            "actions": sorted(actions, key=lambda action: int(action["sequence"])),
            "explanation": latest.explanation,
            "plannedAt": instant(latest.created_at),
            "correlationId": latest.correlation_id,
        }


class DriftPointSerializer(ApiSerializer):
    """A point of the history."""

    controller = fields.TextOf(example=CONTROLLER)
    at = fields.Time()
    score = fields.Number(SCORE, allow_null=True, example=0.21)
    drifted = fields.Flag(example=True)
    dimensions = fields.Object(example={"kpi": 0.5})


class DriftSerializer(ApiSerializer):
    """How a resource stands under every controller, and how it came about."""

    items = DriftItemSerializer(many=True)
    history = DriftPointSerializer(many=True, help_text="Newest first.")


def is_stale(runtime: Runtime | None, controller: Controller | None, now: datetime) -> bool:
    """Tell whether a controller has stopped looking, so that what it said is no longer known."""
    if runtime is None or controller is None:
        return True
    # What a silent one said before waits for its next look, even once it is heard again.
    waits = runtime.external and runtime.stalled_at is not None
    return waits or watchdog.is_silent(runtime, controller, now)


def last_evaluated(judgement: Judgement, runtime: Runtime | None, version: int) -> datetime:
    """Return until when a judgement held: a later cycle that found nothing new confirmed it."""
    confirmed = runtime is not None and not runtime.failures and judgement.version == version
    later = runtime.last_run_at if runtime is not None and confirmed else None
    return max(judgement.evaluated_at, later) if later else judgement.evaluated_at
