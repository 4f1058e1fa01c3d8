"""The lives of the database: each ends when a backup takes its place."""

from __future__ import annotations

from django.db import models


class Incarnation(models.Model):
    """A life that began with a first start, or when a person accepted a restored database.

    One that was only heard of, from a machine that knew it, waits for a person to accept that.
    """

    uid = models.UUIDField(unique=True, editable=False)
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return str(self.uid)
