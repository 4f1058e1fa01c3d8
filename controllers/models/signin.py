"""The door: whose sign-ins failed, and where people are signed in."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Lockout(models.Model):
    """Sign-ins that failed lately: of one name from one address, or of all names from it."""

    # As it was typed, in small letters; nothing stands for every name.
    account = models.CharField(max_length=150, blank=True)
    address = models.CharField(max_length=45)
    failures = models.PositiveIntegerField()
    # When the count began, and until when nothing more is heard.
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "address"], name="one_lockout_per_account_and_address"
            )
        ]

    def __str__(self) -> str:
        return f"{self.account or 'everybody'} from {self.address}: {self.failures}"


class Visit(models.Model):
    """A session of somebody: how it began, from where, and when it was last used."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="visits"
    )
    session = models.CharField(max_length=40, unique=True)
    method = models.CharField(max_length=20)
    address = models.CharField(max_length=45)
    device = models.CharField(max_length=100)
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-seen_at"]

    def __str__(self) -> str:
        return f"{self.person_id} by {self.method} on {self.device}"
