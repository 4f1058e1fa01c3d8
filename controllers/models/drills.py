"""Tries of the way to step in: each pauses a canary, and keeps what it found."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class Drill(models.Model):
    """One try whether a pause stops an effect, for one Governance."""

    class State(models.TextChoices):
        """Where it stands; only one that passed proves anything."""

        ASKED = "asked"
        RUNNING = "running"
        PASSED = "passed"
        FAILED = "failed"

    OPEN = (State.ASKED, State.RUNNING)

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    governance = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="drills")
    state = models.CharField(max_length=7, choices=State.choices)
    # Who asked for it: a person, or the clock.
    author = models.CharField(max_length=300)
    asked_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True)
    # One that is still running by then has lost its process.
    until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # The canary: a controller and what it changes, made for this drill and gone after it.
    controller = models.ForeignKey(
        Resource, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    target = models.ForeignKey(
        Resource, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    hold = models.ForeignKey(
        "controllers.Hold", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    # What each step found, in the order of the steps.
    evidence = DocumentField(default=list)
    problem = models.TextField(blank=True)

    scoped_by = ("governance__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["governance"],
                condition=Q(state__in=("asked", "running")),
                name="one_open_drill_per_governance",
            )
        ]
        indexes = [models.Index(fields=["state", "until"], name="drills_open")]

    def __str__(self) -> str:
        return f"drill/{self.pk}"

    @property
    def stream(self) -> str:
        """The chain of the ledger that tells its story."""
        return f"drill/{self.uid}"
