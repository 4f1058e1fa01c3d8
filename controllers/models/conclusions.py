"""What controllers concluded: judgements, drift over time, plans and alerts."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class Judgement(models.Model):
    """What a controller last concluded about a resource."""

    controller = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="judgements", db_index=False
    )
    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="judged")
    generation = models.PositiveBigIntegerField()
    version = models.BigIntegerField()
    basis = models.TextField(blank=True)
    score = models.FloatField(null=True)
    drifted = models.BooleanField()
    status = models.CharField(max_length=7)
    reason = models.CharField(max_length=100)
    message = models.TextField(blank=True)
    urgency = models.CharField(max_length=8)
    dimensions = DocumentField(default=dict)
    evidence = DocumentField(default=list)
    since = models.DateTimeField()
    evaluated_at = models.DateTimeField()
    recheck_at = models.DateTimeField(null=True)
    episode = DocumentField(default=dict)
    plan = models.CharField(max_length=64, blank=True)

    scoped_by = ("resource__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["controller", "resource"], name="one_judgement_per_pair"
            )
        ]
        indexes = [
            # What the clock alone may have changed.
            models.Index(
                fields=["controller", "recheck_at"],
                condition=Q(recheck_at__isnull=False),
                name="judged_until",
            ),
            # Drifted resources: lists and counts.
            models.Index(
                fields=["controller", "resource"], condition=Q(drifted=True), name="drifted_now"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.resource_id} under {self.controller_id}: {self.score}"


class DriftSample(models.Model):
    """A point of a resource's drift over time, kept when the score changes."""

    controller = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="drift_samples")
    at = models.DateTimeField()
    score = models.FloatField(null=True)
    drifted = models.BooleanField()
    dimensions = DocumentField(default=dict)

    scoped_by = ("resource__domain",)
    objects = ScopedManager()

    class Meta:
        indexes = [
            # One resource's history; retention by count.
            models.Index(fields=["controller", "resource", "at"], name="drift_history"),
            # Retention by age.
            models.Index(fields=["at"], name="drift_age"),
        ]

    def __str__(self) -> str:
        return f"{self.resource_id} at {self.at}: {self.score}"


class Alert(models.Model):
    """Something people were told; it rings once and stays until what it is about is over."""

    controller = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="alerts")
    # The controller itself when it is about a whole cycle.
    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="alerts_about")
    reason = models.CharField(max_length=100)
    channel = models.CharField(max_length=253, blank=True)
    severity = models.CharField(max_length=8)
    message = models.TextField()
    correlation_id = models.CharField(max_length=64)
    raised_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    scoped_by = ("controller__domain", "resource__domain")
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["controller", "resource", "reason", "channel"],
                condition=Q(resolved_at=None),
                name="one_open_alert",
            )
        ]
        # What was raised lately.
        indexes = [models.Index(fields=["-raised_at"], name="alerts_lately")]

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}"
