"""Events that agents tell, as the API takes and shows them."""

from __future__ import annotations

from typing import Any, get_args

from controllers.api.base.fields import STORY
from controllers.models import TelemetryEvent
from controllers.telemetry import MOST, Arrival, IntakeResult, Verdict
from controllers.telemetry.contract_check import CATEGORIES, SEVERITIES
from resources.api import fields
from resources.api.fields import AT, bad_value
from resources.api.serializer_base import (
    ApiSerializer,
    ItemSerializer,
    PageSerializer,
)
from resources.api.serializers import FaultSerializer
from resources.documents.kind import Document
from resources.tables.ledger import instant

LONGEST_ID = 200
LONGEST_NAME = 253
LONGEST_STORY = 64
EVENT = "Such as `growth.signup_completed`; `-` and `_` are one."
TIME = "When it happened; without it, when it arrived."
SIGNUP = {"plan": "team", "seats": 12}
SOURCE = "must be the name of an agent or domain"


class ToldText(fields.Text):
    """A text that can be kept: not empty, and with nothing that cannot be printed."""

    def to_internal_value(self, data: Any) -> str:
        """Read it."""
        most = self.longest or LONGEST_STORY
        if not isinstance(data, str) or not 0 < len(data) <= most or not data.isprintable():
            raise bad_value(self.detail or f"must be a text of 1 to {most} characters")
        return data


def word(words: tuple[str, ...]) -> fields.Word:
    """Return one of some words, told as documents tell it."""
    return fields.Word(words, detail=f"must be one of {', '.join(words)}", required=False)


class ToldSourceSerializer(ItemSerializer):
    """Who tells it; it must be the token's agent."""

    unknown = SOURCE

    agent = ToldText(longest=LONGEST_NAME, detail=SOURCE, required=False, example="scribe")
    domain = ToldText(longest=LONGEST_NAME, detail=SOURCE, required=False, example="growth")


class TelemetryEventSerializer(ItemSerializer):
    """What an agent tells."""

    id = ToldText(
        "What you name it by: told twice it counts once.",
        longest=LONGEST_ID,
        required=False,
        example="signup-4711",
    )
    event = ToldText(
        EVENT,
        longest=LONGEST_NAME,
        needed=f"must be a text of 1 to {LONGEST_NAME} characters",
        example="growth.signup_completed",
    )
    category = word(CATEGORIES)
    severity = word(SEVERITIES)
    correlation_id = ToldText(longest=LONGEST_STORY, required=False, example=STORY)
    causation_id = ToldText(longest=LONGEST_STORY, required=False)
    payload = fields.Object(detail="must be an object", required=False, example=SIGNUP)
    time = fields.Time(
        TIME,
        null=False,
        detail="must be a time with a zone, such as 2026-02-25T10:00:00Z",
        required=False,
        example=AT,
    )
    source_ = ToldSourceSerializer(required=False)

    @classmethod
    def arrival(cls, item: Document, usual: str) -> Arrival | Document:
        """Read one event; what is wrong with it is its own verdict."""
        body, faults = cls.collect(item)
        if faults:
            named = item.get("id")
            told = {"id": named} if isinstance(named, str) and len(named) <= LONGEST_ID else {}
            problems = [{"pointer": each.pointer, "detail": each.message} for each in faults]
            event = str(item.get("event"))[:100]
            return {**told, "event": event, "verdict": "refused", "problems": problems}
        source = body["source_"] or {}
        return Arrival(
            uid=body["id"] or usual,
            event=body["event"],
            category=body["category"],
            severity=body["severity"],
            correlation_id=body["correlation_id"],
            causation_id=body["causation_id"],
            payload=body["payload"],
            at=body["time"],
            agent=source.get("agent", ""),
            domain=source.get("domain", ""),
        )


class TelemetryManySerializer(ApiSerializer):
    """Many events."""

    items = TelemetryEventSerializer(many=True, max_length=MOST)


class TelemetryBatchSerializer(ApiSerializer):
    """One event, or many."""

    one_of = (TelemetryEventSerializer, TelemetryManySerializer)

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example of many."""
        return TelemetryManySerializer.example(**changes)

    @classmethod
    def events(cls, body: Any) -> list[Document]:
        """Return the events of a body: one alone, or those under `items`."""
        if isinstance(body, dict) and "event" in body:
            return [body]
        items = body.get("items") if isinstance(body, dict) else None
        if not isinstance(items, list) or not items or set(body) != {"items"}:
            raise bad_value('Send an event, or {"items": […]} with at least one.', "/items")
        if len(items) > MOST:
            raise bad_value(f"Send at most {MOST} events at once.", "/items")
        for place, each in enumerate(items):
            if not isinstance(each, dict):
                raise bad_value("An event is an object.", f"/items/{place}")
        return items


class TelemetryItemSerializer(ApiSerializer):
    """What became of one event."""

    id = fields.Text(required=False, example="signup-4711")
    event = fields.Text(example="growth.signup_completed")
    verdict = fields.Word(get_args(Verdict), example="flagged")
    contract = fields.Text(
        "The Telemetry resource it was held against.",
        required=False,
        example="growth-signup-completed",
    )
    problems = FaultSerializer(
        many=True,
        required=False,
        example=[{"pointer": "/payload/seats", "detail": "does not fit: …"}],
    )
    flags = fields.ListOf(
        fields.Text(),
        "What was wrong, such as `schema` or `uncontracted`.",
        required=False,
        example=["schema"],
    )

    def to_representation(self, taken: IntakeResult) -> Document:
        """Write a verdict; many come at once."""
        body: Document = {"id": taken.uid, "event": taken.judged.event, "verdict": taken.verdict}
        if taken.judged.contract is not None:
            body["contract"] = taken.judged.contract.name
        if taken.findings:
            body["problems"] = [
                {"pointer": each.pointer, "detail": each.message} for each in taken.findings
            ]
            body["flags"] = list(dict.fromkeys(each.code for each in taken.findings))
        return body


class TelemetryTakenSerializer(ApiSerializer):
    """What became of each event."""

    items = TelemetryItemSerializer(many=True)


class TelemetrySourceSerializer(ApiSerializer):
    """Who told it."""

    agent = fields.Text(required=False, example="scribe")
    domain = fields.Text(required=False, example="growth")


class TelemetryRecordSerializer(ApiSerializer):
    """An event as it is kept; what is personal in it is masked."""

    id = fields.Text(source="uid", example="signup-4711")
    event = fields.Text(EVENT, example="growth.signup_completed")
    category = fields.Word(CATEGORIES, example="metric")
    severity = fields.Word(SEVERITIES, example="info")
    time = fields.Time(TIME)
    received_at = fields.Time()
    source_ = TelemetrySourceSerializer()
    payload = fields.Object(example=SIGNUP)
    batch = fields.TextOf(
        "The ledger keeps a digest over each batch.",
        schema={"format": "uuid"},
        example="0b9a9ac8-3f61-4b6e-8a67-0c4a0b0a9f4e",
    )
    flags = fields.ListOf(fields.Text(), "What was wrong with it.", example=["schema"])
    correlation_id = fields.Text(required=False, example=STORY)
    causation_id = fields.Text(required=False)
    contract = fields.Text(
        "The Telemetry resource it was held against.",
        required=False,
        example="growth-signup-completed",
    )

    def to_representation(self, row: TelemetryEvent) -> Document:
        """Write an event; lists of them are long."""
        body: Document = {
            "id": row.uid,
            "event": row.event,
            "category": row.category,
            "severity": row.severity,
            "time": instant(row.at),
            "receivedAt": instant(row.received_at),
            "source": {"agent": row.agent, "domain": row.domain},
            "payload": row.payload,
            "batch": str(row.batch),
            "flags": row.flags.split(",") if row.flags else [],
        }
        named = {"correlationId": row.correlation_id, "causationId": row.causation_id}
        body |= {name: value for name, value in named.items() if value}
        if row.contract is not None:
            body["contract"] = row.contract.name
        return body


class TelemetryListSerializer(PageSerializer):
    """One page of events."""

    items = TelemetryRecordSerializer(many=True)
