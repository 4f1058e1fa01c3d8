"""Requests that may be sent twice."""

from __future__ import annotations

from django.db import models

from resources.tables.fields import DocumentField


class Answered(models.Model):
    """What was answered to a request that its caller named."""

    # Such as `person/maya`: names are the caller's own.
    actor = models.CharField(max_length=300)
    key = models.CharField(max_length=200)
    # Of what was asked: the same name for something else is a mistake.
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = DocumentField(default=dict)
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["actor", "key"], name="one_answer_for_each_request")
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.key}"
