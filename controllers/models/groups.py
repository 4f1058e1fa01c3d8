"""Named sets of people whose word a policy asks for."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class ApprovalGroup(models.Model):
    """A group that policies name; being in it gives nothing without an approver's grant."""

    # Its chain in the ledger follows it through every name.
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=63, unique=True)
    description = models.CharField(max_length=500, blank=True, default="", db_default="")
    created_by = models.CharField(max_length=300)
    created_at = models.DateTimeField()
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="approval_groups"
    )

    def __str__(self) -> str:
        return f"group/{self.name}"


class Membership(models.Model):
    """Somebody in a group."""

    group = models.ForeignKey(ApprovalGroup, on_delete=models.CASCADE, related_name="memberships")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    added_by = models.CharField(max_length=300)
    added_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "person"], name="in_a_group_once")]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.group_id}"
