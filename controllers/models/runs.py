"""Runs of workflows and their steps."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from controllers.engine.run_lifecycle import OPEN, STATES, STEP_STATES
from controllers.models.proposals import Proposal
from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class WorkflowRun(models.Model):
    """One run of a workflow, with the declaration it was started with."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    workflow = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="runs")
    state = models.CharField(max_length=12, choices=[(each, each) for each in STATES])
    # Counts every change; the first statement of every transaction moves it.
    lock = models.PositiveBigIntegerField(default=0, db_default=0)
    # The declaration as it was when the run was started: no step comes in later.
    generation = models.PositiveBigIntegerField()
    revision = models.BigIntegerField()
    plan = DocumentField(default=dict)
    trigger = models.CharField(max_length=200)
    inputs = DocumentField(default=dict)
    started_by = models.CharField(max_length=300)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    # The whole run ends here, whatever its steps may take.
    ends_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # How it ended: completed, compensated, failed, partial, cancelled, timeout or governance.
    outcome = models.CharField(max_length=11, blank=True)
    reason = models.TextField(blank=True)
    retries = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.FloatField(default=0)
    currency = models.CharField(max_length=8, blank=True)
    correlation_id = models.CharField(max_length=64)
    # What a caller named its request by, so that a repeated one starts nothing new.
    request_key = models.CharField(max_length=300, blank=True)
    request_digest = models.CharField(max_length=64)
    # The lock at which the workflow's status was written last.
    published = models.PositiveBigIntegerField(null=True)

    scoped_by = ("workflow__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workflow", "started_by", "request_key"],
                condition=~Q(request_key=""),
                name="one_run_per_request",
            ),
            models.CheckConstraint(condition=Q(state__in=STATES), name="run_state_word"),
        ]
        indexes = [
            models.Index(fields=["workflow", "-id"], name="runs_of_workflow"),
            # What the clock ends.
            models.Index(fields=["ends_at"], condition=Q(state__in=OPEN), name="runs_open"),
        ]

    def __str__(self) -> str:
        return f"run/{self.pk}"

    @property
    def stream(self) -> str:
        """The chain of the ledger that tells its story."""
        return f"run/{self.uid}"


class RunStep(models.Model):
    """One step of a run, or the undoing of one."""

    run = models.ForeignKey(WorkflowRun, on_delete=models.CASCADE, related_name="steps")
    # Its place in the run; what undoes comes after all that is done, the first to go first.
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=253)
    undoes = models.BooleanField(default=False)
    agent = models.CharField(max_length=253)
    action = models.TextField()
    gate = models.BooleanField(default=False)
    state = models.CharField(max_length=9, choices=[(each, each) for each in STEP_STATES])
    # Whether everything it waits for is over.
    ready = models.BooleanField(default=False)
    # The same for every attempt: whoever receives it twice does it once.
    key = models.CharField(max_length=64, unique=True)
    # Whoever has an older one writes nothing.
    fence = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    # It is not begun before, and an attempt does not last beyond.
    not_before = models.DateTimeField(null=True)
    deadline = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    error_class = models.CharField(max_length=10, blank=True)
    error = models.TextField(blank=True)
    message = models.TextField(blank=True)
    result = DocumentField(default=dict)
    # What people are asked: to pass the gate, or to undo what was done before it failed.
    proposal = models.ForeignKey(
        Proposal, on_delete=models.SET_NULL, null=True, related_name="run_steps"
    )

    scoped_by = ("run__workflow__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="one_step_per_place"),
            models.UniqueConstraint(fields=["run", "name", "undoes"], name="one_step_per_name"),
            models.CheckConstraint(condition=Q(state__in=STEP_STATES), name="run_step_state_word"),
        ]
        indexes = [
            # What an agent may begin, or is at.
            models.Index(
                fields=["agent", "state"],
                condition=Q(state__in=["pending", "running"]),
                name="steps_of_agent",
            ),
            # What the clock ends.
            models.Index(
                fields=["deadline"], condition=Q(state="running"), name="run_steps_running"
            ),
        ]

    def __str__(self) -> str:
        return f"{'undo ' if self.undoes else ''}{self.name} of run/{self.run_id}"


class Timetable(models.Model):
    """When a workflow's schedule comes next."""

    workflow = models.OneToOneField(
        Resource, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    # As it was declared when the time was worked out.
    schedule = models.TextField()
    next_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.workflow_id} at {self.next_at}"


class Heard(models.Model):
    """How far somebody has listened to the ledger."""

    name = models.CharField(max_length=32, unique=True)
    upto = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.name} up to {self.upto}"
