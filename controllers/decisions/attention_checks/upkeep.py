"""What the clock brings: checks that lay there long enough end, and new ones are made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max

from controllers.decisions import proposals
from controllers.decisions.attention_checks.check_factory import make, per_week
from controllers.decisions.attention_checks.check_outcome import end, is_open
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Check
from resources.documents.problems import Problem
from resources.tables.models import Resource

WEEK = timedelta(days=7)
# A check comes after half, or after one and a half times the usual wait: never by the clock.
LEAST, SPREAD = 0.5, 1.0


def sweep(now: datetime) -> int:
    """Do what is due; return how many checks began or ended."""
    ended = sum(withdraw(each, now) for each in over(now))
    return ended + sum(make(each, now) is not None for each in due(now))


def over(now: datetime) -> list[Check]:
    """Return those whose time is over, and whose proposal came to another end."""
    rows = Check.objects.filter(ended_at=None).select_related("proposal").order_by("pk")
    return [e for e in rows if e.until <= now or e.proposal.state not in WAITING]


def withdraw(check: Check, now: datetime) -> bool:
    """Take a check away that nobody answered."""
    with transaction.atomic(), suppress(Problem):
        if is_open(check.proposal):
            proposals.take(check.proposal_id, "withdraw", now)
        end(check, now)
        return True
    return False


def due(now: datetime) -> list[Resource]:
    """Return the Governances that ask for another check by now."""
    rows = Resource.objects.filter(kind="Governance", deleted_at=None).order_by("pk")
    asking = [each for each in rows if per_week(each)]
    last = latest(asking)
    return [each for each in asking if is_due(each, last.get(each.pk), now)]


def latest(asking: Sequence[Resource]) -> dict[int, Check]:
    """Return the last check of each Governance."""
    made = Check.objects.filter(governance__in=asking).order_by().values("governance")
    keys = made.annotate(last=Max("pk")).values("last")
    return {each.governance_id: each for each in Check.objects.filter(pk__in=keys)}


def is_due(governance: Resource, last: Check | None, now: datetime) -> bool:
    """Tell whether it is time again since the last one; the last one's salt says when."""
    if last is None:
        return True
    if last.ended_at is None:
        return False
    chance = int(last.salt[:8], 16) / 0xFFFFFFFF
    return now - last.made_at >= WEEK / per_week(governance) * (LEAST + SPREAD * chance)
