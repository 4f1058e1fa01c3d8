"""Holds as the API takes and shows them."""

from __future__ import annotations

from typing import Any

from controllers.api.base.fields import LATER, ActorText, Reason, Reference
from controllers.models import Hold
from resources.api import fields
from resources.api.fields import bad_value
from resources.api.serializer_base import ApiSerializer, Body, PageSerializer

WHY = "It throttles agents that are meant to be busy today."
PATH = "A field of the resource, such as `spec.tokenBudget.maxDaily`."
IN_FLIGHT = "What becomes of work that has begun."
EPOCH = "It moves with every change of the holds."


class HoldSerializer(ApiSerializer):
    """What somebody said no to, how far it reaches and how long it stands."""

    id = fields.Key(source="pk", example=4)
    kind = fields.Word(Hold.Kind.values, example="pause")
    scope = fields.Word(Hold.Scope.values, example="controller")
    domain = fields.Text(required=False)
    controller = Reference(required=False, example="controller/agent-performance")
    resource = Reference(required=False)
    path = fields.Text(PATH, required=False)
    value = fields.Anything(required=False)
    former = fields.Anything(required=False)
    window = fields.Object("When a freeze comes back.", required=False)
    in_flight = fields.Word(Hold.InFlight.values, IN_FLIGHT, example="stop")
    reason = fields.Text(example=WHY)
    author = ActorText(example="person/ines")
    owner = fields.Text("Who answers for it.", required=False, example="ines")
    proposal = fields.Key("What it is the answer to.", source="proposal_id", required=False)
    ended_by = ActorText(required=False)
    end_reason = fields.Text(required=False)
    epoch = fields.TextOf(EPOCH, example="12")
    placed_at = fields.Time()
    starts_at = fields.Time(required=False)
    ends_at = fields.Time(required=False, example=LATER)
    ended_at = fields.Time(required=False)

    def get_window(self, row: Hold) -> Any:
        """Return when a freeze comes back, if it does."""
        return row.window or None

    def get_owner(self, row: Hold) -> str:
        """Name who answers for it."""
        return row.owner.get_username() if row.owner else ""


class HoldListSerializer(PageSerializer):
    """One page of holds."""

    items = HoldSerializer(many=True)
    epoch = fields.Text(EPOCH, example="12")


class UnderWaySerializer(ApiSerializer):
    """A call that had begun before the hold."""

    proposal = fields.Key(example=16)
    operation = fields.Text(example="restart")
    target = Reference()
    state = fields.Text(example="dispatched")
    claimed_by = fields.Text(required=False)
    deadline = fields.Time("By when it has ended.", required=False, example="2026-02-25T10:00:07Z")


class PlacedHoldSerializer(ApiSerializer):
    """A hold that was just placed, and the calls that had begun before it."""

    hold = HoldSerializer()
    in_flight = UnderWaySerializer(many=True)
    detail = fields.Text(
        "The same in words.",
        source="sentence",
        example="1 call already on the wire, drained by 10:00:07 UTC.",
    )


class HoldRecordSerializer(ApiSerializer):
    """People also see what it keeps from running."""

    hold = HoldSerializer()
    under_way = UnderWaySerializer(many=True, required=False, example=[])
    preview = fields.Object(
        "What would happen if it were lifted.",
        required=False,
        example={"hold": 4, "runs": 0, "proposals": [], "shadows": []},
    )

    def get_hold(self, row: Hold) -> Hold:
        """Return the hold."""
        return row

    def get_under_way(self, _: Hold) -> Any:
        """Return the calls that have begun, for people."""
        return self._context.get("under_way")

    def get_preview(self, _: Hold) -> Any:
        """Return what lifting it would do, for people."""
        return self._context.get("preview")


class HoldWindowSerializer(ApiSerializer):
    """When a freeze comes back; the use case reads it."""

    cron = fields.Text(example="0 18 * * 5")
    timezone = fields.Text(example="Europe/Berlin")
    duration = fields.Text(example="62h")

    def to_internal_value(self, data: Any) -> Body:
        """Read an object."""
        if not isinstance(data, dict):
            raise bad_value("window is an object.")
        return data


class HoldingSerializer(ApiSerializer):
    """A hold that is not given an end ends after seven days."""

    kind = fields.Text(schema={"enum": Hold.Kind.values}, example="pause")
    scope = fields.Text(schema={"enum": Hold.Scope.values}, example="controller")
    reason = Reason(example=WHY)
    domain = fields.Text(required=False)
    controller = fields.Text(required=False, example="agent-performance")
    resource = Reference(required=False)
    path = fields.Text(PATH, required=False)
    value = fields.Anything(required=False)
    starts_at = fields.Time(required=False)
    ends_at = fields.Time(required=False)
    open_ended = fields.Flag("Until a person lifts it.", required=False)
    window = HoldWindowSerializer(required=False, example=None)
    in_flight = fields.Text(IN_FLIGHT, schema={"enum": Hold.InFlight.values}, required=False)
    owner = fields.Text("A person's name.", required=False)


class LiftingSerializer(ApiSerializer):
    """The end of a hold."""

    reason = Reason(example="The day is over.")
    restore = fields.Flag("Put back what an override replaced.", required=False)


class RenewingSerializer(ApiSerializer):
    """A later end of a hold."""

    reason = Reason(example="The week is not over.")
    ends_at = fields.Time(needed="Say until when.", example=LATER)
