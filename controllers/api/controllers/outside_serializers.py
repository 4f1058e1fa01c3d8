"""What a process reports that runs a controller outside, and what it hears."""

from __future__ import annotations

from typing import Any, get_args

from controllers.api.base.fields import STORY, Reference
from controllers.api.controllers.serializers import (
    CycleSummarySerializer,
    CycleTimesSerializer,
)
from controllers.api.work.serializers import EPOCH, FENCE
from controllers.engine.drift import DIMENSIONS
from controllers.engine.findings import Finding
from controllers.engine.precedence import Standing
from controllers.engine.terms import Dimension, Evidence, Outcome, Verdict
from controllers.engine.terms import Word as Status
from controllers.models import Hold
from controllers.worker import external_controllers
from controllers.worker.external_controllers import ProposedStep, Reported
from controllers.worker.external_controllers.cycle_close import CUT_SHORT
from controllers.worker.external_controllers.findings_report import Verdict as Heard
from resources.api import fields
from resources.api.fields import AT, bad_value
from resources.api.serializer_base import ApiSerializer, Body
from resources.documents.kind import Document
from resources.tables.ledger import instant

MOST_FINDINGS, MOST_EVIDENCE, MOST_ACTIONS = 500, 50, 20
MOST_LOOKED_AT = 10**6
MOST_WATCHED = 10**7
LONGEST_NAME, LONGEST_TEXT = 253, 500
VERDICTS, STATUSES = get_args(Verdict), get_args(Status)
VERSION = "A resource version: where this stands in the order of all changes."
PLAIN = "A text, a number, true or false."
UNRESPONSIVE = "It does not answer."


class Short(fields.Text):
    """A text of bounded length."""

    def __init__(self, help_text: str = "", **kwargs: Any) -> None:
        super().__init__(help_text, longest=LONGEST_TEXT, **kwargs)


class PlainValue(fields.Anything):
    """A value that a sentence can name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(PLAIN, required=False, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        """Read it."""
        long = isinstance(data, str) and len(data) > LONGEST_TEXT
        if isinstance(data, dict | list) or long:
            most = f"of up to {LONGEST_TEXT} characters"
            raise self.wrong(f"is a text {most}, a number, true or false.")
        return data


class Version(fields.TextOf):
    """The version that was looked at, as resources spell it."""

    absent: Any = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(VERSION, null=True, required=False, example="1207", **kwargs)

    def to_internal_value(self, data: Any) -> int:
        """Read it."""
        if not isinstance(data, str) or not data.isascii() or not data.isdecimal():
            raise bad_value("version is the resourceVersion that you looked at.")
        return int(data[:18])


class StandingHoldSerializer(ApiSerializer):
    """A hold as machines read it."""

    id = fields.Key(source="key", example=7)
    kind = fields.Word(Hold.Kind.values, example="pause")
    scope = fields.Word(Hold.Scope.values, example="domain")
    reason = fields.Text(example="Campaign week.")
    author = fields.Text(example="person/maya")
    domain = fields.Text(required=False, example="growth")
    resource = Reference(required=False)
    path = fields.Text(required=False)
    in_flight = fields.Word(
        Hold.InFlight.values, "What becomes of work that has begun.", example="stop"
    )
    ends_at = fields.Time(required=False, example="2026-03-04T10:00:00Z")

    def get_resource(self, row: Standing) -> Any:
        """Name the resource it is about."""
        return self._context["names"].get(row.resource or 0, "")


class ToldSerializer(ApiSerializer):
    """What people said no to, and what is asked of a controller."""

    epoch = fields.TextOf(EPOCH, example="12")
    holds = StandingHoldSerializer(many=True, help_text="What people said no to in your scope.")
    only_proposes = fields.Flag("Nothing runs without a person this time.", example=False)
    resync = fields.Flag("Look at everything in your next cycle.", source="overdue", example=False)
    asked = fields.ListOf(
        Reference(), "What you are asked to look at.", example=["agent/copywriter"]
    )

    @classmethod
    def tell(cls, told: external_controllers.ControllerDirectives) -> Document:
        """Write what a process hears."""
        return cls.show(told, names=told.names)


class PulseSerializer(ApiSerializer):
    """A process that is still there."""

    fence = fields.Ordinal("Of an open cycle, if there is one.", required=False, example="4")


class OpeningSerializer(ApiSerializer):
    """A cycle that begins."""

    full = fields.Flag(
        "Whether it will cover everything; usually so.",
        absent=True,
        required=False,
        example=True,
    )


class OpenedSerializer(ToldSerializer):
    """An open cycle: its lease goes on with every call about it."""

    cycle = CycleSummarySerializer(
        example=CycleSummarySerializer.example(outcome="running", holder="token/Ab3dE9xZ")
    )
    fence = fields.Text(FENCE, example="4")
    leased_until = fields.Time(example="2026-02-25T10:01:00Z")
    correlation_id = fields.Text(example=STORY)

    @classmethod
    def begun(cls, found: external_controllers.Begun, controller: Any) -> Document:
        """Write an open cycle, and what its process must send with every call about it."""
        return {
            "cycle": CycleSummarySerializer.show(found.cycle, controller=controller),
            "fence": str(found.lease.token),
            "leasedUntil": instant(found.leased_until),
            "correlationId": found.cycle.correlation_id,
            **ToldSerializer.tell(found.told),
        }


class FindingEvidenceSerializer(ApiSerializer):
    """One thing that was looked at."""

    subject = Short(
        "Such as `kpi/churn`.",
        needed=f"subject is a text of up to {LONGEST_TEXT} characters.",
        example="condition/Ready",
    )
    verdict = fields.Anything("", schema={"type": "string", "enum": VERDICTS}, example="missed")
    desired = PlainValue(example="True")
    observed = PlainValue(example="False")
    at = Short(required=False, example=AT)
    by = Short(required=False)
    note = Short(required=False)

    def validate(self, attrs: Body) -> Any:
        """Refuse what names nothing, or says nothing about it."""
        if not attrs["subject"] or attrs["verdict"] not in VERDICTS:
            detail = f"Evidence has a subject, and a verdict of {', '.join(VERDICTS)}."
            raise bad_value(detail, "/verdict", VERDICTS)
        return Evidence(**attrs)


class FindingDimensionSerializer(ApiSerializer):
    """One dimension of a drift: its score, what it looked at, and what it found amiss."""

    score = fields.Share(null=True, allow_null=True, example=0.8)
    evidence = FindingEvidenceSerializer(many=True, max_length=MOST_EVIDENCE, required=False)
    of = fields.Count(
        "How many things were looked at.",
        detail="of is how many things were looked at, all of them.",
        required=False,
        example=3,
    )

    def validate(self, attrs: Body) -> Body:
        """Count what was looked at, all of it."""
        evidence = attrs["evidence"]
        of = max(1, len(evidence)) if attrs["of"] is None else attrs["of"]
        if not len(evidence) <= of <= MOST_LOOKED_AT:
            raise bad_value("of is how many things were looked at, all of them.", "/of")
        return attrs | {"of": of}


class FindingDimensionsBase(ApiSerializer):
    """What the dimensions of a finding share."""

    def validate(self, attrs: Body) -> Any:
        """Return those that were given."""
        return tuple(
            Dimension(name, given["score"], None, tuple(given["evidence"]), given["of"])
            for name, given in attrs.items()
            if given is not None
        )


HEALTH = FindingDimensionSerializer.example()
FindingDimensionsSerializer: Any = type(
    "FindingDimensionsSerializer",
    (FindingDimensionsBase,),
    {
        "__doc__": "Each by its name.",
        **{
            name: FindingDimensionSerializer(
                required=False, example=HEALTH if name == "health" else None
            )
            for name in DIMENSIONS
        },
    },
)


class FindingConditionSerializer(ApiSerializer):
    """How it is said on the resource; only under the controller's own type."""

    type = Short(required=False)
    status = Short(schema={"enum": STATUSES}, required=False)
    reason = Short(
        "One word in CamelCase.",
        schema={"maxLength": 64},
        required=False,
        example="Unresponsive",
    )
    message = Short(required=False, example=UNRESPONSIVE)

    def validate(self, attrs: Body) -> Body:
        """Refuse a status that is none."""
        if attrs["status"] not in ("", *STATUSES):
            raise bad_value(f"status is one of {', '.join(STATUSES)}.", "/status", STATUSES)
        return attrs


class FindingActionSerializer(ApiSerializer):
    """A step that would close the gap."""

    operation = Short(
        schema={},
        needed=f"operation is a text of up to {LONGEST_TEXT} characters.",
        example="restart",
    )
    parameters = fields.Object(required=False)
    why = Short(required=False, example=UNRESPONSIVE)

    def validate(self, attrs: Body) -> Any:
        """Return the wish."""
        return ProposedStep(attrs["operation"], attrs["parameters"], attrs["why"])


class FindingSerializer(ApiSerializer):
    """Without a score and dimensions it is not known how the resource stands."""

    resource = Reference(example="agent/copywriter")
    version = Version()
    complete = fields.Flag(
        "Whether all of it was seen; a part never leads to a change.",
        absent=True,
        required=False,
        example=True,
    )
    score = fields.Share(
        "Alone, or as its dimensions come to.", null=True, allow_null=True, required=False
    )
    dimensions = FindingDimensionsSerializer(required=False)
    condition = FindingConditionSerializer(required=False)
    actions = FindingActionSerializer(
        many=True,
        max_length=MOST_ACTIONS,
        help_text="What would close the gap; spec.actions.onDrift says what is taken.",
        required=False,
    )

    def validate(self, attrs: Body) -> Any:
        """Return what was found; its name is still a reference."""
        said = attrs["condition"] or {}
        finding = Finding(
            attrs["dimensions"] or (),
            attrs["score"],
            said.get("reason", ""),
            said.get("message", ""),
            complete=attrs["complete"],
        )
        wishes = tuple(attrs["actions"])
        told = (said.get("type", ""), said.get("status", ""))
        return Reported(attrs["resource"], finding, wishes, attrs["version"], *told)


class FindingsSerializer(ApiSerializer):
    """What was found about some resources."""

    fence = fields.Ordinal(FENCE, example="4")
    findings = FindingSerializer(
        many=True,
        min_length=1,
        max_length=MOST_FINDINGS,
        detail=f"findings lists from one to {MOST_FINDINGS} findings.",
    )

    @staticmethod
    def named(reports: list[Reported], kind: str) -> list[Reported]:
        """Return the reports by the names of their resources, each of one kind and told once."""
        names: set[str] = set()
        for place, each in enumerate(reports):
            pointer = f"/findings/{place}/resource"
            found, mark, name = each.name.partition("/")
            if not mark or found != kind or not 0 < len(name) <= LONGEST_NAME:
                raise bad_value(f"resource is a reference such as {kind}/name.", pointer)
            if name in names:
                raise bad_value(f"{kind}/{name} is named twice.", pointer)
            names.add(name)
        return [each._replace(name=each.name.partition("/")[2]) for each in reports]


class FindingResultSerializer(ApiSerializer):
    """What became of one finding."""

    resource = Reference(example="agent/copywriter")
    verdict = fields.Word(get_args(Heard), example="taken")
    version = fields.TextOf(VERSION, required=False, example="1207")
    problems = fields.ListOf(fields.Object(), required=False)
    score = fields.Share(required=False, allow_null=True, example=0.8)
    drifted = fields.Flag(required=False, example=True)
    status = fields.Word(STATUSES, required=False, example="False")
    reason = fields.Text(required=False, example="Unresponsive")
    message = fields.Text(required=False, example=UNRESPONSIVE)
    actions = fields.ListOf(
        fields.Object(),
        "Each with what the gate said of it.",
        required=False,
        example=[
            {
                "operation": "restart",
                "kind": "change",
                "risk": "low",
                "result": "planned",
                "disposition": "run",
                "code": "ModeEnforce",
                "reason": "The policy lets it run.",
            }
        ],
    )

    def to_representation(self, found: external_controllers.Heard) -> Document:
        """Write a verdict, and what followed from the finding."""
        body: Document = {
            "resource": f"{self._context['kind']}/{found.name}",
            "verdict": found.verdict,
        }
        if found.version is not None:
            body["version"] = str(found.version)
        if found.problems:
            body["problems"] = [
                {"pointer": each.pointer, "detail": each.message} for each in found.problems
            ]
        if found.case is not None:
            judgement = found.case.judgement
            told = {
                "score": judgement.score,
                "drifted": judgement.drifted,
                "status": judgement.status,
                "reason": judgement.reason,
                "message": judgement.message,
                "actions": [ruled(each) for each in found.case.outcomes],
            }
            body |= {name: each for name, each in told.items() if each not in (None, "")}
        return body


def ruled(outcome: Outcome) -> Document:
    """Write an action, and what the gate said of it."""
    ruling = outcome.verdict
    found: Document = {
        "operation": outcome.action.operation,
        "kind": outcome.action.kind,
        "risk": outcome.action.risk,
        "result": outcome.result,
        "disposition": ruling.word if ruling else "",
        "code": ruling.code if ruling else "",
        "reason": ruling.reason if ruling else outcome.reason,
    }
    return {name: each for name, each in found.items() if each not in (None, "")}


class FindingResultsSerializer(ToldSerializer):
    """What became of each finding."""

    items = FindingResultSerializer(many=True)


class WatchedSerializer(ApiSerializer):
    """What a process counted; the rest is counted here."""

    watched = fields.Count(largest=MOST_WATCHED, null=True, required=False, example=6)

    def refuse_unknown(self, data: Any) -> None:
        """Refuse what is counted here."""
        if not isinstance(data, dict):
            raise bad_value("counts is an object.")
        if unknown := sorted(set(data) - set(self.attributes)):
            detail = f"{unknown[0][:80]!r} is counted here."
            raise bad_value(detail, allowed=list(self.attributes))


class ClosingSerializer(ApiSerializer):
    """How a cycle ended."""

    fence = fields.Ordinal(FENCE, example="4")
    outcome = fields.Word(
        list(CUT_SHORT),
        needed=f"outcome is one of {', '.join(CUT_SHORT)}.",
        example="completed",
    )
    error = fields.Text("Why it failed.", longest=500, required=False)
    counts = WatchedSerializer(required=False)
    times = CycleTimesSerializer(required=False, example={"watch": 37.6, "diff": 9.7})

    def validate(self, attrs: Body) -> Body:
        """Put together how it ended."""
        if attrs["error"] and attrs["outcome"] != "failed":
            raise bad_value("Only a cycle that failed has an error.", "/error")
        end = external_controllers.End(
            attrs["outcome"],
            attrs["error"],
            (attrs["counts"] or {}).get("watched"),
            attrs["times"] or {},
        )
        return {"fence": attrs["fence"], "end": end}


class ClosedSerializer(ToldSerializer):
    """A cycle that has ended."""

    cycle = CycleSummarySerializer()

    @classmethod
    def closed(
        cls, cycle: Any, controller: Any, told: external_controllers.ControllerDirectives
    ) -> Document:
        """Write what a cycle came to, and what people said meanwhile."""
        shown = CycleSummarySerializer.show(cycle, controller=controller)
        return {"cycle": shown, **ToldSerializer.tell(told)}
