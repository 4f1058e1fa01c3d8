"""What agents spend: prices, records, counters, and what people were told about budgets."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from resources.tables.models import Resource
from resources.tables.visibility import Scope, ScopedManager


class Price(models.Model):
    """What a model costs, in millionths of a currency for a million tokens."""

    provider = models.CharField(max_length=64)
    name = models.CharField(max_length=128)
    currency = models.CharField(max_length=8)
    input = models.PositiveBigIntegerField()
    output = models.PositiveBigIntegerField()
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=300)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "name"], name="one_price_per_model")
        ]

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


class Usage(models.Model):
    """What one call spent, as its agent reports it: once for each name of a record."""

    class Priced(models.TextChoices):
        """Where its cost comes from; nothing is ever invented."""

        GIVEN = "given"
        TABLE = "table"
        UNKNOWN = "unknown"

    agent = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="usage", db_index=False
    )
    record = models.CharField(max_length=220)
    # What names its content: the same name with another content is refused.
    digest = models.CharField(max_length=64)
    domain = models.CharField(max_length=253, blank=True)
    # The day it counts for.
    day = models.DateField()
    at = models.DateTimeField()
    received_at = models.DateTimeField()
    tokens_in = models.PositiveBigIntegerField()
    tokens_out = models.PositiveBigIntegerField()
    # Millionths of the currency.
    cost = models.PositiveBigIntegerField()
    currency = models.CharField(max_length=8)
    priced = models.CharField(max_length=7, choices=Priced.choices)
    provider = models.CharField(max_length=64, blank=True)
    model = models.CharField(max_length=128, blank=True)
    version = models.CharField(max_length=64, blank=True)
    workflow = models.CharField(max_length=253, blank=True)
    step = models.CharField(max_length=253, blank=True)
    decision = models.CharField(max_length=253, blank=True)
    correlation_id = models.CharField(max_length=64)
    admission = models.ForeignKey(
        "controllers.Admission", on_delete=models.SET_NULL, null=True, related_name="usage"
    )

    scoped_by = ("domain", "agent__domain")
    objects = ScopedManager()

    class Meta:
        verbose_name_plural = "usage"
        constraints = [
            models.UniqueConstraint(fields=["agent", "record"], name="one_usage_per_record")
        ]
        # Retention by age.
        indexes = [models.Index(fields=["received_at"], name="usage_age")]

    def __str__(self) -> str:
        return f"{self.record} of {self.agent_id}"


class Consumption(models.Model):
    """A counter: how much of one unit somebody has spent, and may yet spend, in one window."""

    class Holder(models.TextChoices):
        """Whose spending it counts."""

        DOMAIN = "domain"
        AGENT = "agent"
        MODEL = "model"
        DECISION = "decision"
        WORKFLOW = "workflow"

    holder = models.CharField(max_length=8, choices=Holder.choices)
    # Agents have counters of their own, whichever domain they are in.
    domain = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    window = models.CharField(max_length=9)
    starts_on = models.DateField()
    # Tokens, or a currency, counted in millionths.
    unit = models.CharField(max_length=8)
    consumed = models.BigIntegerField(default=0)
    # Promised to permits that nobody has settled yet.
    reserved = models.BigIntegerField(default=0)
    records = models.PositiveBigIntegerField(default=0)
    # How many records the resources' statuses tell about.
    published = models.PositiveBigIntegerField(default=0)

    objects = ScopedManager()

    class Meta:
        verbose_name_plural = "consumption"
        constraints = [
            models.UniqueConstraint(
                fields=["holder", "domain", "name", "window", "starts_on", "unit"],
                name="one_counter_per_window",
            )
        ]
        indexes = [
            # Sums over time, and what is to be told. No index holds what an update changes, so
            # that an update needs no entry in any.
            models.Index(fields=["window", "starts_on", "holder"], name="consumption_over_time"),
        ]

    def __str__(self) -> str:
        return f"{self.holder}/{self.name} {self.window} {self.starts_on}"

    @staticmethod
    def within(scope: Scope) -> Q:
        """Say which counters somebody reads: of their domains and of the agents in them."""
        agents = Resource._base_manager.filter(kind="Agent", domain__in=scope.own)
        return Q(domain__in=scope.own) | Q(holder="agent", name__in=agents.values("name"))


class Crossing(models.Model):
    """People were told about a budget: once for each mark in each stretch of days."""

    budget = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="crossings", db_index=False
    )
    event = models.CharField(max_length=32)
    # A threshold, or the agent that spent more than its share.
    mark = models.CharField(max_length=260)
    window = models.CharField(max_length=9, blank=True)
    starts_on = models.DateField()
    share = models.FloatField()
    severity = models.CharField(max_length=8)
    message = models.TextField()
    at = models.DateTimeField()

    scoped_by = ("budget__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["budget", "event", "mark", "window", "starts_on"],
                name="told_once_per_period",
            )
        ]
        indexes = [models.Index(fields=["-at"], name="crossings_lately")]

    def __str__(self) -> str:
        return self.message
