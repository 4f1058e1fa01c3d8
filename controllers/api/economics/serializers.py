"""What was spent and where that leads, as the API shows it; the use case writes the document."""

from __future__ import annotations

from resources.api import fields
from resources.api.fields import Value
from resources.api.serializer_base import ApiSerializer

CURRENCY = "Three capital letters, such as USD."


def tokens() -> Value:
    """Return a number of tokens."""
    return fields.Count(example=1500)


def costs() -> Value:
    """Return money by its currency."""
    return fields.MapOf(fields.Number(), "By currency.", example={"USD": 0.006})


class SpendSerializer(ApiSerializer):
    """What was spent."""

    tokens, cost = tokens(), costs()


class DomainSpendSerializer(SpendSerializer):
    """What was spent in one domain."""

    domain = fields.Text(example="finance")


class AgentSpendSerializer(SpendSerializer):
    """What one agent spent."""

    agent = fields.Text(example="refund-resolver")


class ModelSpendSerializer(SpendSerializer):
    """What was spent on one model."""

    model = fields.Text(example="openai/gpt-4o")


class DecisionSpendSerializer(SpendSerializer):
    """What was spent because of one decision."""

    decision = fields.Text(example="dec-105-small-refunds-automatic")


class WorkflowSpendSerializer(SpendSerializer):
    """What was spent on one workflow."""

    workflow = fields.Text(example="refund-approval")


class DaySpendSerializer(SpendSerializer):
    """What was spent on one day."""

    day = fields.Text(example="2026-02-25")


class BudgetLimitsSerializer(ApiSerializer):
    """How much may be spent in a period."""

    tokens = fields.Count(required=False, example=2000)
    cost = fields.Number(required=False, example=10.0)
    currency = fields.Text(CURRENCY, required=False, example="USD")


class BudgetSumSerializer(ApiSerializer):
    """How much was spent of a budget."""

    name = fields.Text(required=False)
    tokens = fields.Count(example=1500)
    cost = fields.Number(example=0.006)
    currency = fields.Text(CURRENCY, required=False, example="USD")


class BudgetProjectionSerializer(ApiSerializer):
    """Where a budget stands at the end of its period, if it goes on so."""

    tokens = fields.Count(required=False, example=1680)
    cost = fields.Number(required=False, example=0.00672)


class BudgetStandingSerializer(ApiSerializer):
    """How a budget stands."""

    budget = fields.Text(example="finance-budget")
    domain = fields.Text(example="finance")
    period = fields.Text(example="2026-02")
    enforcement = fields.Text(example="enforce")
    limits = BudgetLimitsSerializer()
    consumed = BudgetSumSerializer()
    utilization_rate = fields.Number(required=False, example=0.75)
    projected_end_of_period = BudgetProjectionSerializer()
    projected_overrun = fields.Flag(example=False)
    by_agent = BudgetSumSerializer(
        many=True, example=[BudgetSumSerializer.example(name="refund-resolver")]
    )


class BudgetAlertSerializer(ApiSerializer):
    """What people were told about a budget."""

    budget = fields.Text(example="finance-budget")
    event = fields.Text(example="budget_threshold_reached")
    mark = fields.Text("The threshold, or the agent.", example="0.7")
    severity = fields.Text(example="info")
    share = fields.Number(example=0.75)
    message = fields.Text(
        example="75% of budget/finance-budget is used (1,500 tokens of 2,000 tokens); told at 70%."
    )
    at = fields.Time()


class EconomicsSerializer(ApiSerializer):
    """Lists hold the 200 that spent most; decisions and workflows count from their beginning."""

    since = fields.Day(example="2026-02-01")
    until = fields.Day(example="2026-02-26")
    spend = SpendSerializer()
    by_domain = DomainSpendSerializer(many=True)
    by_agent = AgentSpendSerializer(many=True)
    by_model = ModelSpendSerializer(many=True)
    by_decision = DecisionSpendSerializer(many=True)
    by_workflow = WorkflowSpendSerializer(many=True)
    over_time = DaySpendSerializer(many=True)
    budgets = BudgetStandingSerializer(many=True)
    alerts = BudgetAlertSerializer(many=True)
