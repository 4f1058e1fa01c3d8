"""Who may do what, where, and for whom."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

RISKS = [(each, each) for each in ("low", "medium", "high")]


class Grant(models.Model):
    """A role somebody holds, for the organisation or for one domain."""

    class Role(models.TextChoices):
        """What a role lets people do is written in `controllers.access.roles`."""

        VIEWER = "viewer"
        OPERATOR = "operator"
        APPROVER = "approver"
        ADMINISTRATOR = "administrator"
        AUDITOR = "auditor"

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="grants"
    )
    role = models.CharField(max_length=13, choices=Role.choices)
    # Nothing stands for the whole organisation.
    domain = models.CharField(max_length=253, blank=True)
    # The highest risk an approver may decide about.
    ceiling = models.CharField(max_length=6, choices=RISKS, default="high", db_default="high")
    granted_by = models.CharField(max_length=300)
    granted_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    # The group of an identity provider it comes from; nothing when a person gave it.
    source = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "role", "domain"], name="one_grant_per_role_and_domain"
            )
        ]

    def __str__(self) -> str:
        return f"{self.person_id}: {self.role} of {self.domain or 'the organisation'}"


class Delegation(models.Model):
    """Somebody decides for somebody else, for a time."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="delegations"
    )
    deputy = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="deputises"
    )
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")), name="delegation_has_a_length"
            ),
            models.CheckConstraint(
                condition=~Q(person=F("deputy")), name="nobody_is_their_own_deputy"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deputy_id} for {self.person_id}"
