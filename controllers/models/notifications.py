"""Where words go: channels to people, endpoints of machines, and what is on its way."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from resources.tables.fields import DocumentField
from resources.tables.visibility import Scope, ScopedManager


class Channel(models.Model):
    """A name that controllers use, such as `slack-ops`, and the service behind it."""

    name = models.CharField(max_length=253, unique=True)
    # The service's address with its secrets, encrypted; it is never shown again.
    address = models.TextField()
    hint = models.CharField(max_length=100, blank=True)
    enabled = models.BooleanField(default=True)
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=300)
    failed_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.name


class Endpoint(models.Model):
    """An outside machine that carries operations out when it is called."""

    name = models.CharField(max_length=253, unique=True)
    url = models.CharField(max_length=2000)
    # The key its calls are signed with, encrypted.
    secret = models.TextField()
    operations = DocumentField(default=list)
    # Nothing stands for all domains.
    domain = models.CharField(max_length=253, blank=True)
    enabled = models.BooleanField(default=True)
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=300)

    scoped_by = ("domain",)
    objects = ScopedManager()

    def __str__(self) -> str:
        return self.name


class Delivery(models.Model):
    """One message on its way to one channel; it is tried until it arrives or is given up."""

    class State(models.TextChoices):
        """Where it is; what no channel takes stays in the product and says so."""

        WAITING = "waiting"
        SENT = "sent"
        IN_APP = "in_app"
        GIVEN_UP = "given_up"

    alert = models.ForeignKey(
        "controllers.Alert", on_delete=models.CASCADE, null=True, related_name="deliveries"
    )
    proposal = models.ForeignKey(
        "controllers.Proposal", on_delete=models.CASCADE, null=True, related_name="deliveries"
    )
    hold = models.ForeignKey(
        "controllers.Hold", on_delete=models.CASCADE, null=True, related_name="deliveries"
    )
    # What makes it the same message: it is sent once.
    key = models.CharField(max_length=64, unique=True)
    channel = models.CharField(max_length=253, blank=True)
    severity = models.CharField(max_length=8)
    title = models.CharField(max_length=300)
    body = models.TextField()
    state = models.CharField(max_length=8, choices=State.choices)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    run_at = models.DateTimeField()
    # A worker that took it and was lost gives it back by this time.
    claimed_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    objects = ScopedManager()

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            # The outbox: each channel's messages in the order they were told.
            models.Index(fields=["state", "channel", "id"], name="outbox"),
            models.Index(fields=["-created_at"], name="deliveries_lately"),
        ]

    def __str__(self) -> str:
        return f"{self.title} to {self.channel or 'the product'}"

    @staticmethod
    def within(scope: Scope) -> Q:
        """Say which messages somebody reads: those about something that they see."""
        seen, some = scope.reading, Q(pk__in=[])
        for path in ("alert__resource", "proposal__resource", "hold__resource"):
            some |= Q(**{f"{path}__domain__in": seen})
        # A hold of a domain or of everything is about no resource.
        return some | Q(hold__resource=None, hold__domain__in=seen)
