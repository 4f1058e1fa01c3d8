"""What stands around every page: where to go, how much waits there, and whether all is at rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions import holds, proposal_groups
from controllers.engine.precedence import Standing
from controllers.models import Delivery, Preference, Runtime
from controllers.narrative import drift_queries
from resources.tables import bounded_count
from resources.tables.models import Resource
from resources.usecases import access

# A badge says "99+" beyond this; nobody counts further.
MOST_COUNTED = 99
# To count them all would cost more than everything else on a page.
MOST_RESOURCES = 999
DOMAINS_SHOWN = 8
# What no channel takes, or took, is read here.
HERE = ("in_app", "given_up")
# Who finds the way to tokens, channels and machines.
MANAGE = ("administrator", "auditor")


@dataclass(frozen=True)
class Power:
    """Whether controllers act: how many run, and who stopped everything."""

    controllers: int
    running: int
    stop: Standing | None

    @property
    def state(self) -> str:
        """The word of the switch."""
        return "paused" if self.stop else "running" if self.controllers else "none"


@dataclass(frozen=True)
class Counts:
    """How much there is in each section; of many resources only that there are more."""

    resources: int
    more: bool
    controllers: int
    holds: int


class Shell:
    """The frame of a page; every figure is read when it is shown."""

    def __init__(self, person: User | None, now: datetime, section: str) -> None:
        self.person, self.now, self.section = person, now, section

    @cached_property
    def waiting(self) -> int:
        """How many proposals wait for the one who looks."""
        if self.person is None:
            return 0
        rows = proposal_groups.waiting(self.now).select_related("resource", "controller")
        mine = proposal_groups.unanswered(rows, self.person)
        return len(roles.waiting_for(self.person, mine, MOST_COUNTED + 1, self.now))

    @cached_property
    def badge(self) -> str:
        """The count as the navigation writes it."""
        return f"{MOST_COUNTED}+" if self.waiting > MOST_COUNTED else str(self.waiting or "")

    @property
    def manages(self) -> bool:
        """Whether the one who looks looks after the product, or reads about that."""
        return self.person is not None and access.scope_of(self.person).holds_somewhere(MANAGE)

    @cached_property
    def standing(self) -> tuple[Standing, ...]:
        """The holds in force."""
        return holds.standing(self.now)

    @cached_property
    def counts(self) -> Counts:
        """How much there is."""
        rows = Resource.objects.filter(deleted_at=None).order_by()
        found, controllers = bounded_count.together(
            rows[: MOST_RESOURCES + 1], rows.filter(kind="Controller")
        )
        shown = min(found, MOST_RESOURCES)
        return Counts(shown, found > shown, controllers, len(self.standing))

    @cached_property
    def unread(self) -> int:
        """How many messages somebody has not seen."""
        if self.person is None:
            return 0
        seen = Preference.objects.filter(person=self.person).values_list("read_upto", flat=True)
        rows = Delivery.objects.filter(state__in=HERE, pk__gt=seen.first() or 0)
        return len(rows.values_list("pk", flat=True)[: MOST_COUNTED + 1])

    @cached_property
    def shortcuts(self) -> bool:
        """Whether single keys do something for the one who looks."""
        mine = Preference.objects.filter(person=self.person).values_list("shortcuts", flat=True)
        return mine.first() is not False

    @cached_property
    def domains(self) -> list[drift_queries.Gauge]:
        """The domains, those furthest off first."""
        return drift_queries.domains()[:DOMAINS_SHOWN]

    @cached_property
    def power(self) -> Power:
        """Whether controllers act."""
        stop = next((each for each in self.standing if each.kind == "stop"), None)
        paused = {each.controller for each in self.standing if each.scope == "controller"}
        rows = Runtime.objects.filter(controller__deleted_at=None)
        found = list(rows.values_list("controller_id", "breaker", "problem"))
        resting = [
            key for key, breaker, problem in found if key in paused or breaker == "open" or problem
        ]
        return Power(len(found), 0 if stop else len(found) - len(resting), stop)
