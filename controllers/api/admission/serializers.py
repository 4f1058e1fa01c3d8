"""Admissions and usage as the API takes and shows them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, get_args

from controllers import admission
from controllers.admission import Result
from controllers.admission.admission_ledger import on_of
from controllers.admission.usage_report import MOST, Verdict
from controllers.api.base.fields import STORY, Story
from controllers.budgets import Claim
from controllers.budgets.amounts import MILLION, MOST_COST, MOST_TOKENS
from controllers.budgets.budget_status import money
from controllers.budgets.price_list import CURRENCY
from controllers.engine.admission import Decision
from controllers.models import Admission, Usage
from resources.api import fields
from resources.api.fields import AT, bad_value
from resources.api.serializer_base import (
    ApiSerializer,
    Body,
    PageSerializer,
    unknown_field,
)
from resources.api.serializers import FaultSerializer
from resources.documents.kind import Document

State = Admission.State
LAPSED = {"code": "PermitLapsed", "reason": "The permit was not used in time: ask again."}
REFUSED = (State.DENIED, State.LAPSED)
LONGEST_TEXT = 64 * 1024
LONGEST_PERMIT = 1_000
LONGEST_NAME = 253
OPERATION = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}")
REFERENCE = re.compile(r"[a-z]{1,32}/[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
DIGEST = "9f2c4b6d8e0a1c3e5f7092b4d6f8a1c3e5f7092b4d6f8a1c3e5f7092b4d6f8a1"
PERMIT = "Signed, for one use by its agent; opaque."
PERMITTED = "WyI3ZjQxIiwi…:1vT3…"
COSTS = ("tokens", "cost", "model")


class MoneySerializer(ApiSerializer):
    """An amount of money."""

    value = fields.Number(
        least=0,
        largest=MOST_COST // MILLION,
        detail=f"cost.value is an amount from 0 to {MOST_COST // MILLION:,}.",
        needed="cost has a value.",
        example=0.006,
    )
    currency = fields.Text(
        "Three capital letters, such as USD.",
        printable=True,
        required=False,
        example="USD",
    )

    def validate(self, attrs: Body) -> Body:
        """Read an amount as millionths, in a currency that is one."""
        if attrs["currency"] and not CURRENCY.fullmatch(attrs["currency"]):
            raise bad_value("A currency has three capital letters, such as USD.", "/currency")
        exact = Decimal(str(attrs["value"])) * MILLION
        return attrs | {"value": int(exact.quantize(Decimal(1), ROUND_HALF_UP))}


class TokensSerializer(ApiSerializer):
    """How many tokens a call takes."""

    input = fields.Count(largest=MOST_TOKENS, required=False, example=1200)
    output = fields.Count(largest=MOST_TOKENS, required=False, example=300)


class ModelSerializer(ApiSerializer):
    """Without a cost, its price is looked up; without a price the cost is 0, and says so."""

    provider = fields.Text(longest=64, printable=True, required=False, example="openai")
    name = fields.Text(longest=128, printable=True, required=False, example="gpt-4o")
    version = fields.Text(longest=64, printable=True, required=False, example="2026-05")


class CostSerializer(ApiSerializer):
    """What a call takes."""

    tokens = TokensSerializer(required=False)
    cost = MoneySerializer(required=False)
    model = ModelSerializer(required=False)

    def validate(self, attrs: Body) -> Body:
        """Put together what is claimed."""
        found = dict(attrs)
        tokens, cost, model = (found.pop(name) or {} for name in COSTS)
        claim = Claim(
            tokens.get("input") or 0,
            tokens.get("output") or 0,
            cost.get("value"),
            cost.get("currency", ""),
            model.get("provider", ""),
            model.get("name", ""),
            model.get("version", ""),
        )
        return found | {"claim": claim}


class AskingSerializer(CostSerializer):
    """What an agent asks before it acts."""

    operation = fields.Text(
        "`read`, `write`, `delete`, `execute`, or a capability of the agent.",
        printable=True,
        example="write",
    )
    resource = fields.Text(
        "Such as `workflow/onboarding`, or `asset/customer-ledger` for data.",
        printable=True,
        example="asset/customer-ledger",
    )
    parameters = fields.Object(
        "What exactly; the permit is for these and no others.",
        required=False,
        example={"rows": 12},
    )
    text = fields.Text(
        "What the agent passes along; held against patterns of policies.",
        required=False,
        example="Refund of order 4711, as the customer asked.",
    )
    why = fields.Text(
        "Shown to people who are asked, as the agent's claim.",
        longest=2_000,
        printable=True,
        required=False,
        example="The refund was agreed on the phone.",
    )

    def validate(self, attrs: Body) -> Body:
        """Refuse names that name nothing, and texts without end."""
        if not OPERATION.fullmatch(attrs["operation"]):
            detail = "operation is a word such as read or summarise-feedback."
            raise bad_value(detail, "/operation")
        if not REFERENCE.fullmatch(attrs["resource"]):
            detail = "resource is a reference such as agent/scribe or asset/customer-ledger."
            raise bad_value(detail, "/resource")
        if len(attrs["text"]) > LONGEST_TEXT:
            raise bad_value(f"text is a text of up to {LONGEST_TEXT:,} characters.", "/text")
        return super().validate(attrs)


class RedeemingSerializer(AskingSerializer):
    """A permit, and what it is used for."""

    permit = fields.Text(
        PERMIT,
        longest=LONGEST_PERMIT,
        printable=True,
        needed="Send the permit.",
        example=PERMITTED,
    )

    def validate(self, attrs: Body) -> Body:
        """Ask for the permit."""
        if not attrs["permit"]:
            raise bad_value("Send the permit.", "/permit")
        return super().validate(attrs)


class ReasonedSerializer(ApiSerializer):
    """Why something is not, or not simply, allowed."""

    code = fields.Text("For programs.", example="BudgetSpent")
    reason = fields.Text(
        "For people.",
        example="budget/finance-budget has 0 tokens left (monthly), and this takes 1,500 tokens.",
    )


class SpentMoneySerializer(ApiSerializer):
    """An amount of money that was asked for or spent."""

    value = fields.Number(least=0, example=0.006)
    currency = fields.Text("Three capital letters, such as USD.", required=False, example="USD")


class AdmissionSerializer(ApiSerializer):
    """What was asked, and the answer; the permit is for its agent's eyes only."""

    id = fields.Count(source="pk", example=41)
    decision = fields.Word(get_args(Decision), example="allowed")
    state = fields.Word(State.values, example="allowed")
    agent = fields.Text(source="agent.name", example="refund-resolver")
    operation = fields.Text(example="write")
    resource = fields.Text(example="asset/customer-ledger")
    digest = fields.Text("Of operation, resource, cost and parameters.", example=DIGEST)
    tokens = fields.Count(example=1500)
    cost = SpentMoneySerializer()
    reasons = ReasonedSerializer(
        many=True, help_text="Why not, or why a person is asked.", example=[]
    )
    warnings = ReasonedSerializer(
        many=True, help_text="What would have been refused in another mode."
    )
    asked_at = fields.Time()
    redeemed_at = fields.Time(required=False)
    expires_at = fields.Time(
        "Until when the permit can be used.", required=False, example="2026-02-25T10:01:00Z"
    )
    epoch = fields.TextOf(
        "How often holds have changed; the permit is for this epoch.",
        required=False,
        example="7",
    )
    permit = fields.Text(
        PERMIT, schema={"maxLength": LONGEST_PERMIT}, required=False, example=PERMITTED
    )
    proposal = fields.Count("What a person decides.", source="proposal_id", required=False)
    correlation_id = fields.Text("What its story is called.", example=STORY)

    def get_decision(self, row: Admission) -> str:
        """Say what the answer is."""
        if row.state == State.WAITING:
            return "waiting"
        return "denied" if row.state in REFUSED else "allowed"

    def get_resource(self, row: Admission) -> str:
        """Name what it is about."""
        return on_of(row)

    def get_cost(self, row: Admission) -> Document:
        """Write what it would cost."""
        return {"value": money(row.cost), "currency": row.currency}

    def get_reasons(self, row: Admission) -> list[Document]:
        """Say why not."""
        return [*row.reasons, *([LAPSED] if row.state == State.LAPSED else [])]

    def get_expires_at(self, row: Admission) -> Any:
        """Say until when the permit can be used."""
        return row.expires_at if row.state == State.ALLOWED else None

    def get_epoch(self, row: Admission) -> Any:
        """Say for which epoch the permit is."""
        return row.epoch if row.state == State.ALLOWED else None

    def get_permit(self, row: Admission) -> str | None:
        """Show its agent the permit."""
        shown = row.state == State.ALLOWED and self._context.get("permit")
        return admission.text_of(row) if shown else None


PLAIN: Document = {"permit": None, "expiresAt": None, "epoch": None}
REDEEMED: Document = {**PLAIN, "state": "redeemed", "redeemedAt": AT}
WAITING: Document = {
    **PLAIN,
    "id": 42,
    "decision": "waiting",
    "state": "waiting",
    "reasons": [
        {"code": "ApprovalRequired", "reason": "refund-resolver asks for a person first."}
    ],
    "proposal": 17,
}


class AdmissionListSerializer(PageSerializer):
    """One page of what agents asked."""

    items = AdmissionSerializer(
        many=True,
        example=[AdmissionSerializer.example(**WAITING), AdmissionSerializer.example(**PLAIN)],
    )


class UsageRecordSerializer(CostSerializer):
    """What one call spent."""

    not_an_object = "A record is an object."

    id = fields.Text(
        "Your name of the record: repeated, it is counted once.",
        longest=200,
        printable=True,
        required=False,
        example="call-4711",
    )
    permit = fields.Text(
        PERMIT, longest=LONGEST_PERMIT, printable=True, required=False, example=PERMITTED
    )
    at = fields.Time(required=False, example=AT)
    workflow = fields.Text(
        longest=LONGEST_NAME, printable=True, required=False, example="refund-approval"
    )
    step = fields.Text(longest=LONGEST_NAME, printable=True, required=False, example="check")
    decision = fields.Text(
        longest=LONGEST_NAME,
        printable=True,
        required=False,
        example="dec-105-small-refunds-automatic",
    )
    correlation_id = fields.Text(longest=64, printable=True, required=False, example=STORY)

    def to_internal_value(self, data: Any) -> Body:
        """Read a record, which says what was spent."""
        self.refuse_unknown(data)
        if not {"tokens", "cost", "permit"} & set(data):
            raise bad_value(
                "Say what was spent: tokens, cost, or the permit of what took nothing."
            )
        return super().to_internal_value(data)


class UsageBatchSerializer(ApiSerializer):
    """Many records."""

    items = UsageRecordSerializer(many=True)


class UsageReportSerializer(ApiSerializer):
    """One record, or many."""

    one_of = (
        UsageBatchSerializer,
        (UsageRecordSerializer, {"not": {"required": ["items"]}}),
    )

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example of many."""
        return UsageBatchSerializer.example(**changes)

    @classmethod
    def records(cls, body: Document) -> list[Any]:
        """Return the records of a body that has many."""
        known = ["items", *UsageRecordSerializer.attributes]
        if unknown := sorted(set(body) - set(known)):
            raise unknown_field(unknown[0], known)
        items = body["items"]
        if not isinstance(items, list) or not 0 < len(items) <= MOST or len(body) > 1:
            detail = f'Send {{"items": […]}} with one to {MOST} records, and nothing else.'
            raise bad_value(detail, "/items")
        return items


class UsageResultSerializer(ApiSerializer):
    """What became of one record."""

    verdict = fields.Word(get_args(Verdict), example="counted")
    id = fields.Text(required=False, example="call-4711")
    cost = SpentMoneySerializer(required=False)
    priced = fields.Word(
        Usage.Priced.values,
        "Whether the cost was given, worked out, or is unknown.",
        required=False,
        example="given",
    )
    day = fields.Day("The day it counts for.", required=False, example="2026-02-25")
    permit = fields.Text(
        "`settled`, `none`, or why the permit does not cover it.",
        required=False,
        example="settled",
    )
    problems = FaultSerializer(many=True, required=False, example=None)

    def to_representation(self, found: Result) -> Document:
        """Write a verdict; many come at once."""
        body: Document = {"verdict": found.verdict}
        if found.usage is not None:
            row = found.usage
            body |= {
                "id": row.record,
                "cost": {"value": money(row.cost), "currency": row.currency},
                "priced": row.priced,
                "day": row.day.isoformat(),
            }
        if found.permit:
            body["permit"] = found.permit
        if found.problems:
            body["problems"] = [
                {"pointer": pointer, "detail": detail} for pointer, detail in found.problems
            ]
        return body


class UsageReportedSerializer(ApiSerializer):
    """What became of each record."""

    items = UsageResultSerializer(
        many=True,
        example=[
            UsageResultSerializer.example(),
            {
                "verdict": "refused",
                "problems": [{"pointer": "/at", "detail": "lies in the future"}],
            },
        ],
    )


class UsedTokensSerializer(ApiSerializer):
    """How many tokens a call took."""

    input = fields.Count(required=False, example=1200)
    output = fields.Count(required=False, example=300)


class UsageSerializer(ApiSerializer):
    """A record of usage as it is kept."""

    # A record without a name of its own has its request's, and its place in it.
    id = fields.Text(source="record", example="call-4711")
    agent = fields.Text(source="agent.name", example="refund-resolver")
    domain = fields.Text(required=False, example="finance")
    at = fields.Time()
    day = fields.Day(example="2026-02-25")
    tokens = UsedTokensSerializer()
    cost = SpentMoneySerializer()
    model = ModelSerializer(required=False)
    priced = fields.Word(
        Usage.Priced.values,
        "Whether the cost was given, worked out, or is unknown.",
        example="given",
    )
    workflow = fields.Text(required=False, example="refund-approval")
    step = fields.Text(required=False, example="check")
    decision = fields.Text(required=False, example="dec-105-small-refunds-automatic")
    correlation_id = Story("What its story is called.")
    admission = fields.Count(source="admission_id", required=False, example=41)

    def get_tokens(self, row: Usage) -> Document:
        """Write the tokens."""
        return {"input": row.tokens_in, "output": row.tokens_out}

    def get_cost(self, row: Usage) -> Document:
        """Write the money."""
        return {"value": money(row.cost), "currency": row.currency}

    def get_model(self, row: Usage) -> Document | None:
        """Write which model it was, if that was said."""
        if not row.model:
            return None
        model = {"provider": row.provider, "name": row.model, "version": row.version}
        return {key: value for key, value in model.items() if value}


class UsageListSerializer(PageSerializer):
    """One page of usage."""

    items = UsageSerializer(many=True)
