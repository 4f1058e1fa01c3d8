"""The loop's own rows."""

from __future__ import annotations

from django.db import models


class Chore(models.Model):
    """When a piece of housekeeping last ran; a conditional update decides who runs it next."""

    name = models.CharField(max_length=32, unique=True)
    last_run_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
