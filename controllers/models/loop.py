"""The loop at work: what is to do, who does it, and what was done."""

from __future__ import annotations

from typing import Any, Self

from django.db import models
from django.db.models import Q

from resources.tables import visibility
from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class Chore(models.Model):
    """When a piece of housekeeping last ran; a conditional update decides who runs it next."""

    name = models.CharField(max_length=32, unique=True)
    last_run_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Runtime(models.Model):
    """A controller at work: who runs it, how it counts, and whether its breaker lets it."""

    class Breaker(models.TextChoices):
        """Only a person closes an open breaker, and only through one trial cycle."""

        CLOSED = "closed"
        OPEN = "open"
        HALF_OPEN = "half_open"

    controller = models.OneToOneField(
        Resource, on_delete=models.CASCADE, primary_key=True, related_name="runtime"
    )
    # The spec it runs; another one means starting afresh.
    generation = models.PositiveBigIntegerField(default=0)
    problem = models.TextField(blank=True)
    # The lease: a write under an older token is refused.
    holder = models.CharField(max_length=100, blank=True)
    token = models.PositiveBigIntegerField(default=0)
    leased_until = models.DateTimeField(null=True)
    # The clock.
    started_at = models.DateTimeField()
    last_run_at = models.DateTimeField(null=True)
    last_drift_at = models.DateTimeField(null=True)
    resync_at = models.DateTimeField()
    # What it counts; each chunk moves these together with its judgements.
    cycles = models.PositiveBigIntegerField(default=0)
    healthy = models.PositiveIntegerField(default=0)
    drifted = models.PositiveIntegerField(default=0)
    unknown = models.PositiveIntegerField(default=0)
    breaker = models.CharField(
        max_length=9, choices=Breaker.choices, default=Breaker.CLOSED, db_default=Breaker.CLOSED
    )
    failures = models.PositiveIntegerField(default=0)
    breaker_reason = models.TextField(blank=True)
    stalled_at = models.DateTimeField(null=True)
    # Whether another process runs it, and when that was last heard.
    external = models.BooleanField(default=False, db_default=False)
    heard_at = models.DateTimeField(null=True)
    # After a hold it only proposes, until a full cycle of this number or a later one has ended.
    only_proposes_from = models.PositiveBigIntegerField(null=True)

    scoped_by = ("controller__domain",)
    objects = ScopedManager()

    def __str__(self) -> str:
        return f"runtime of {self.controller_id}"

    @property
    def has_looked(self) -> bool:
        """Whether it has ever looked at everything it watches."""
        return self.resync_at > self.started_at

    @property
    def watched(self) -> int:
        """How many resources it looks after."""
        return self.healthy + self.drifted + self.unknown


class WorkItem(models.Model):
    """A reason to look at one resource; keyed on its controller it stands for all of them.

    Every arrival counts up. Work that was done takes the item away only if nothing arrived since
    it was read, so nothing that happens during the work is lost.
    """

    class Reason(models.IntegerChoices):
        """Why; several add up."""

        CHANGE = 1
        INTERVAL = 2
        MANUAL = 4
        DEPENDENCY = 8
        RETRY = 16
        APPROVAL = 32

    controller = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="work", db_index=False
    )
    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="queued")
    reasons = models.PositiveSmallIntegerField()
    arrivals = models.PositiveBigIntegerField(default=1)
    run_at = models.DateTimeField()
    # Smaller goes first.
    priority = models.SmallIntegerField(default=2)
    attempts = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    parked_at = models.DateTimeField(null=True)
    # The spec that could not be worked with; another one starts with a clean record.
    parked_generation = models.PositiveBigIntegerField(null=True)
    requested_by = models.CharField(max_length=300, blank=True)
    message = models.CharField(max_length=500, blank=True)
    # The correlation id of the request, which the cycle goes on with.
    story = models.CharField(max_length=64, blank=True)

    scoped_by = ("resource__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["controller", "resource"], name="one_item_per_pair")
        ]
        indexes = [
            # What is due, and for whom.
            models.Index(
                fields=["run_at", "controller"], condition=Q(parked_at=None), name="due_work"
            ),
            # One controller's work, the urgent first.
            models.Index(
                fields=["controller", "priority", "run_at"],
                condition=Q(parked_at=None),
                name="ready_work",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.controller_id} → {self.resource_id}"


class Cycle(models.Model):
    """One run of the five phases by one controller."""

    class Outcome(models.TextChoices):
        """How it ended; nothing while it runs."""

        CONVERGED = "converged"
        DRIFTED = "drift_reported"
        ACTED = "acted"
        PARTIAL = "partial"
        SKIPPED = "hook_skipped"
        FAILED = "failed"
        TIMED_OUT = "timed_out"
        SUPERSEDED = "superseded"
        INTERRUPTED = "interrupted"
        LOST = "lost"

    controller = models.ForeignKey(
        Resource, on_delete=models.CASCADE, related_name="cycles", db_index=False
    )
    number = models.PositiveBigIntegerField()
    correlation_id = models.CharField(max_length=64)
    generation = models.PositiveBigIntegerField()
    mode = models.CharField(max_length=8)
    full = models.BooleanField()
    reasons = models.PositiveSmallIntegerField()
    requested_by = models.CharField(max_length=300, blank=True)
    message = models.CharField(max_length=500, blank=True)
    holder = models.CharField(max_length=100)
    token = models.PositiveBigIntegerField()
    # How far the world was read.
    revision = models.BigIntegerField()
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=14, blank=True, choices=Outcome.choices)
    phase = models.CharField(max_length=6, blank=True)
    error = models.TextField(blank=True)
    # Per phase: how many and how many milliseconds.
    counts = DocumentField(default=dict)
    times = DocumentField(default=dict)
    hooks = DocumentField(default=list)
    actions = DocumentField(default=list)

    scoped_by = ("controller__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["controller", "number"], name="one_cycle_per_number")
        ]
        indexes = [
            # Cycles that a lost process left open.
            models.Index(fields=["controller"], condition=Q(finished_at=None), name="open_cycles"),
            # Retention by age.
            models.Index(fields=["started_at"], name="cycle_age"),
        ]

    def __str__(self) -> str:
        return f"cycle {self.number} of {self.controller_id}"

    @classmethod
    def from_db(cls, *given: Any, **more: Any) -> Self:
        """Leave out what a cycle did beyond the domains of the one who looks."""
        cycle = super().from_db(*given, **more)
        if visibility.current() is not None:
            for name in ("hooks", "actions"):
                if cycle.__dict__.get(name):
                    setattr(cycle, name, seen_among(cycle.__dict__[name]))
        return cycle


def seen_among(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the entries of a record about what the one who looks may see."""
    names = {str(each["target"]).partition("/")[2] for each in entries}
    rows = Resource.objects.filter(name__in=names).values_list("kind", "name")
    seen = {f"{kind.lower()}/{name}" for kind, name in rows}
    return [each for each in entries if each["target"] in seen]
