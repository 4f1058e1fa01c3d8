"""What agents tell: events in a narrow table, their counts, and what is still to be said."""

from __future__ import annotations

from django.db import models

from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class TelemetryEvent(models.Model):
    """One event as it arrived; nothing changes it until its time is over.

    It is not in the chain of hashes: its batch is, with a digest over these rows.
    """

    # Nobody has declared it, or its contract is gone.
    contract = models.ForeignKey(
        Resource, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    # Who told it, by the token.
    agent = models.CharField(max_length=253)
    domain = models.CharField(max_length=253, blank=True)
    # What its sender names it by: told twice it counts once.
    uid = models.CharField(max_length=300)
    batch = models.UUIDField()
    event = models.CharField(max_length=100)
    category = models.CharField(max_length=8)
    severity = models.CharField(max_length=8)
    # When its sender says it happened, and when it arrived.
    at = models.DateTimeField()
    received_at = models.DateTimeField()
    correlation_id = models.CharField(max_length=64, blank=True)
    causation_id = models.CharField(max_length=64, blank=True)
    payload = DocumentField(default=dict)
    digest = models.CharField(max_length=64)
    # What was found wrong with it, such as `schema,pii`.
    flags = models.CharField(max_length=100, blank=True)

    scoped_by = ("domain", "?contract__domain")
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "uid"], name="one_event_per_name"),
        ]
        indexes = [
            # What is told under one contract: the last value, and retention.
            models.Index(fields=["contract", "received_at"], name="events_of_contract"),
            # Retention of what nobody declared, and the newest of all.
            models.Index(fields=["received_at"], name="events_by_age"),
            models.Index(fields=["event", "-id"], name="events_by_name"),
            models.Index(fields=["correlation_id", "-id"], name="events_of_story"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.pk}"


class TelemetryCount(models.Model):
    """How many events arrived under one contract in one minute, or in one hour."""

    class Span(models.TextChoices):
        """How long it counts."""

        MINUTE = "minute"
        HOUR = "hour"

    contract = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="+")
    span = models.CharField(max_length=6, choices=Span.choices)
    at = models.DateTimeField()
    received = models.PositiveBigIntegerField(default=0)
    # Those that broke their contract, refused or not.
    invalid = models.PositiveBigIntegerField(default=0)
    stored = models.PositiveBigIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)

    scoped_by = ("contract__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["contract", "span", "at"], name="one_count_per_contract_and_time"
            )
        ]
        indexes = [models.Index(fields=["span", "at"], name="counts_by_age")]

    def __str__(self) -> str:
        return f"{self.received} in the {self.span} of {self.at}"


class TelemetryPulse(models.Model):
    """When a contract's last event arrived, and whether its status says so already."""

    contract = models.OneToOneField(Resource, on_delete=models.CASCADE, primary_key=True)
    last_at = models.DateTimeField()
    # Counts arrivals; what is published is taken away only at the count that was read.
    arrivals = models.PositiveBigIntegerField(default=0)
    published = models.PositiveBigIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(
                fields=["contract"],
                condition=~models.Q(arrivals=models.F("published")),
                name="pulses_to_publish",
            )
        ]

    def __str__(self) -> str:
        return f"{self.contract_id} at {self.last_at}"
