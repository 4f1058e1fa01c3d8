"""What somebody chose for themselves: single keys, and how far they have read."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Max
from django.db.models.functions import Greatest

from controllers.models import Delivery, Preference


def switch_shortcuts(person: User, on: bool) -> None:
    """Let single keys do something for somebody, or not."""
    Preference.objects.update_or_create(person=person, defaults={"shortcuts": on})


def read_upto(person: User, upto: int) -> None:
    """Note that somebody has read their messages up to one; nobody reads what is still to come."""
    newest: int = Delivery.objects.aggregate(newest=Max("pk"))["newest"] or 0
    Preference.objects.get_or_create(person=person)
    mine = Preference.objects.filter(person=person)
    mine.update(read_upto=Greatest("read_upto", min(upto, newest)))
