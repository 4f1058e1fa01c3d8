"""Proposals that are no proposals: whether people look before they approve."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from controllers.models.proposals import Proposal
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager


class Check(models.Model):
    """One plainly bad proposal that a Governance asked for; nothing ever comes of it."""

    proposal = models.OneToOneField(Proposal, on_delete=models.CASCADE, related_name="seeded")
    governance = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="checks")
    # What proves afterwards that it was one from the beginning.
    salt = models.CharField(max_length=64)
    made_at = models.DateTimeField()
    # Then it is taken away by itself.
    until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    # Who answered it, what, and whether they saw it; only that person is told.
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="checks"
    )
    answer = models.CharField(max_length=16, blank=True, default="", db_default="")
    caught = models.BooleanField(null=True)

    scoped_by = ("proposal__resource__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["governance"],
                condition=Q(ended_at=None),
                name="one_open_check_per_governance",
            )
        ]

    def __str__(self) -> str:
        return f"check/{self.pk}"
