"""How a person wants the pages."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Preference(models.Model):
    """What somebody chose on their profile, and how far they have read their inbox."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="preference",
    )
    # Single keys decide and move; people who dictate or use a switch turn them off.
    shortcuts = models.BooleanField(default=True, db_default=True)
    # The last message of the inbox that they have seen.
    read_upto = models.PositiveBigIntegerField(default=0, db_default=0)

    def __str__(self) -> str:
        return f"preferences of {self.person_id}"
