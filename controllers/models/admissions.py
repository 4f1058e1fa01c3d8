"""What agents asked to do, what was said, and the rules they broke."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class Admission(models.Model):
    """An agent's question whether it may do something, and the permit that answers it."""

    class State(models.TextChoices):
        """Where it stands; an unused permit lapses, a used one is settled by a usage report."""

        WAITING = "waiting"
        ALLOWED = "allowed"
        DENIED = "denied"
        REDEEMED = "redeemed"
        SETTLED = "settled"
        LAPSED = "lapsed"
        UNREPORTED = "unreported"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    agent = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="admissions")
    # What its agent names the request by: repeated, it is the same one.
    request_key = models.CharField(max_length=200, blank=True)
    operation = models.CharField(max_length=100)
    target = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="asked_about")
    asset = models.CharField(max_length=253, blank=True)
    # Names operation, target, cost and parameters: a permit is for these and no others.
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State.choices)
    reasons = DocumentField(default=list)
    warnings = DocumentField(default=list)
    tokens = models.PositiveBigIntegerField()
    cost = models.PositiveBigIntegerField()
    currency = models.CharField(max_length=8)
    # What is set aside for it: counters and amounts.
    reserved = DocumentField(default=list)
    day = models.DateField()
    # The permit: how often one was made, under which epoch, until when.
    issued = models.PositiveIntegerField(default=0)
    epoch = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    redeemed_at = models.DateTimeField(null=True)
    proposal = models.OneToOneField(
        "controllers.Proposal", on_delete=models.SET_NULL, null=True, related_name="admission"
    )
    asked_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    correlation_id = models.CharField(max_length=64)
    # When its agent is to be told of the answer, and how often that was tried.
    tell_at = models.DateTimeField(null=True)
    tell_attempts = models.PositiveSmallIntegerField(default=0)

    scoped_by = ("agent__domain", "target__domain")
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "request_key"],
                condition=~Q(request_key=""),
                name="one_admission_per_request",
            ),
            models.UniqueConstraint(
                fields=["agent", "digest"],
                condition=Q(state="waiting"),
                name="one_waiting_admission",
            ),
        ]
        indexes = [
            # What the clock ends.
            models.Index(
                fields=["expires_at"],
                condition=Q(state__in=["allowed", "redeemed"]),
                name="permits_running",
            ),
            # Whom to tell.
            models.Index(
                fields=["tell_at"], condition=Q(tell_at__isnull=False), name="answers_to_tell"
            ),
            # Retention by age.
            models.Index(fields=["changed_at"], name="admissions_age"),
        ]

    def __str__(self) -> str:
        return f"admission/{self.pk}"


class Violation(models.Model):
    """A rule that an agent breaks: it opens once, counts, and closes when it is over."""

    policy = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="violations")
    rule = models.CharField(max_length=100)
    agent = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="broke")
    code = models.CharField(max_length=32)
    target = models.CharField(max_length=300)
    asset = models.CharField(max_length=253, blank=True)
    operation = models.CharField(max_length=100)
    reason = models.TextField()
    # The policy as it was declared when the rule was last broken.
    generation = models.PositiveBigIntegerField()
    opened_at = models.DateTimeField()
    last_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    closed_because = models.CharField(max_length=200, blank=True)
    times = models.PositiveBigIntegerField(default=1)
    blocked = models.PositiveBigIntegerField(default=0)
    # How much of it the policy's status tells.
    told_times = models.PositiveBigIntegerField(default=0)
    told_blocked = models.PositiveBigIntegerField(default=0)
    told_closed = models.BooleanField(default=False)

    scoped_by = ("policy__domain", "agent__domain")
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["policy", "rule", "agent"],
                condition=Q(closed_at=None),
                name="one_open_violation",
            )
        ]
        indexes = [models.Index(fields=["last_at"], name="violations_lately")]

    def __str__(self) -> str:
        return f"{self.rule} of {self.policy_id} by {self.agent_id}"
