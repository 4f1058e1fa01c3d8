"""What controllers have earned to do without asking, and how they lost it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class Autonomy(models.Model):
    """One operation that a controller may do in one domain without asking, while it stands."""

    controller = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="autonomy")
    operation = models.CharField(max_length=100)
    domain = models.CharField(max_length=253, blank=True)
    # The declaration it was earned under; under another one it does not count.
    generation = models.PositiveBigIntegerField()
    # The proposal that two people approved.
    proposal = models.ForeignKey(
        "controllers.Proposal", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    granted_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=300, blank=True)
    end_reason = models.TextField(blank=True)

    scoped_by = ("domain", "controller__domain")
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["controller", "operation", "domain"],
                condition=Q(ended_at=None),
                name="one_autonomy_per_operation",
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} in {self.domain or 'no domain'}"
