"""What people said no to: holds, what controllers would have done meanwhile, and the epoch."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class Epoch(models.Model):
    """One row: it moves with every change of the holds, and outside agents present it."""

    value = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.value)


class Hold(models.Model):
    """A statement of a person that stops controllers, while it stands."""

    class Kind(models.TextChoices):
        """What it says."""

        STOP = "stop"
        FREEZE = "freeze"
        PAUSE = "pause"
        OVERRIDE = "override"

    class Scope(models.TextChoices):
        """How far it reaches."""

        ORGANISATION = "organisation"
        DOMAIN = "domain"
        CONTROLLER = "controller"
        RESOURCE = "resource"
        FIELD = "field"

    class InFlight(models.TextChoices):
        """What becomes of work that has begun."""

        FINISH = "finish"
        STOP = "stop"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    scope = models.CharField(max_length=12, choices=Scope.choices)
    domain = models.CharField(max_length=253, blank=True)
    controller = models.ForeignKey(
        Resource, on_delete=models.CASCADE, null=True, related_name="holds_on"
    )
    resource = models.ForeignKey(
        Resource, on_delete=models.CASCADE, null=True, related_name="holds"
    )
    # A path of the resource's spec, such as `spec.tokenBudget.maxDaily`.
    path = models.CharField(max_length=512, blank=True)
    # What an override puts in the place of what was there.
    value = DocumentField(null=True)
    former = DocumentField(null=True)
    # A freeze that comes back: a cron expression, its zone, and how long each lasts.
    window = DocumentField(default=dict)
    in_flight = models.CharField(
        max_length=6, choices=InFlight.choices, default=InFlight.STOP, db_default=InFlight.STOP
    )
    reason = models.TextField()
    author = models.CharField(max_length=300)
    # Who answers for it, and is reminded before it ends.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="holds"
    )
    # The proposal it was the answer to.
    proposal = models.ForeignKey(
        "controllers.Proposal", on_delete=models.SET_NULL, null=True, related_name="holds"
    )
    placed_at = models.DateTimeField()
    # A freeze may be announced; everything else stands from when it was placed.
    starts_at = models.DateTimeField(null=True)
    # Nothing means until a person lifts it.
    ends_at = models.DateTimeField(null=True)
    remind_at = models.DateTimeField(null=True)
    reminded_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=300, blank=True)
    end_reason = models.TextField(blank=True)
    epoch = models.PositiveBigIntegerField()
    # The steps that were under way when it was placed.
    flights = DocumentField(default=list)

    scoped_by = ("domain", "?controller__domain", "?resource__domain")
    objects = ScopedManager()

    class Meta:
        indexes = [
            # The standing ones: few, and asked for before every effect.
            models.Index(
                fields=["kind", "scope"], condition=Q(ended_at=None), name="standing_holds"
            ),
            models.Index(fields=["-placed_at"], name="holds_lately"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def stream(self) -> str:
        """The chain of the ledger that tells its story."""
        return f"hold/{self.uid}"

    @property
    def subject(self) -> str:
        """What is held."""
        held = self.resource or self.controller
        return str(held) if held else f"domain/{self.domain}" if self.domain else "organisation"


class Shadow(models.Model):
    """What a controller would have done under a hold."""

    hold = models.ForeignKey(Hold, on_delete=models.CASCADE, related_name="shadows")
    controller = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    resource = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    action_digest = models.CharField(max_length=64)
    actions = DocumentField(default=list)
    explanation = models.TextField(blank=True)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    times = models.PositiveIntegerField(default=1)

    scoped_by = ("resource__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hold", "controller", "resource", "action_digest"],
                name="one_shadow_per_plan",
            )
        ]

    def __str__(self) -> str:
        return f"{self.controller_id} → {self.resource_id} under {self.hold_id}"
