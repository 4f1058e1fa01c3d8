"""What people hold of one resource, and what the one who looks may do with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse

from controllers.access.roles import rights
from controllers.engine.precedence import Reach, Standing, covers
from controllers.models import Hold, Judgement
from controllers.narrative import event_text
from controllers.web.resources.spec_and_status import Held, bare
from resources.tables.models import Resource
from resources.web import detail


@dataclass(frozen=True)
class Holding:
    """A hold that covers a resource, as people read it."""

    standing: Standing
    who: str
    value: Any
    former: Any

    @property
    def path(self) -> str:
        """The field it holds, if it is one."""
        return bare(self.standing.path)

    @property
    def shown(self) -> str:
        """The value that a person put there."""
        return event_text.shortly(self.value)

    @property
    def before(self) -> str:
        """What stood there before."""
        return event_text.shortly(self.former)


class People:
    """What people said about one resource, and what the one who looks may say."""

    def __init__(
        self, row: Resource, standing: Sequence[Standing], person: User | None, now: datetime
    ) -> None:
        self.row, self.person, self.now = row, person, now
        reach = Reach(row.pk, row.domain)
        self.standing = [each for each in standing if covers(each, reach)]

    @cached_property
    def holds(self) -> list[Holding]:
        """The holds that cover the resource."""
        if not self.standing:
            return []
        keys = [each.key for each in self.standing]
        known = {
            key: (value, former)
            for key, value, former in Hold.objects.filter(pk__in=keys).values_list(
                "pk", "value", "former"
            )
        }
        names = event_text.people(each.author for each in self.standing)
        return [
            Holding(each, event_text.named(each.author, names), *known.get(each.key, (None, None)))
            for each in self.standing
        ]

    @property
    def fields(self) -> list[Held]:
        """The fields that people hold at a value."""
        return [
            Held(each.standing.path, each.value, each.former, each.who)
            for each in self.holds
            if each.path and each.value is not None
        ]

    @cached_property
    def grants(self) -> set[tuple[str, str]]:
        """The roles of the one who looks, each with where it counts."""
        every = {*rights.STOP, *rights.LIFT, *rights.OPERATE}
        held = rights.anywhere(every, self.now).filter(person=self.person)
        return set(held.values_list("role", "domain"))

    def may(self, needed: Sequence[str], domain: str) -> bool:
        """Tell whether the one who looks holds one of some roles in a domain."""
        return any(role in needed and where in ("", domain) for role, where in self.grants)

    @property
    def may_hold(self) -> bool:
        """Whether the one who looks may place holds here."""
        return self.may(rights.STOP, self.row.domain)

    @property
    def actions(self) -> list[tuple[Holding, bool, bool]]:
        """The holds, each with whether the one who looks may extend it and lift it."""
        found = []
        for each in self.holds:
            domain = "" if each.standing.scope == "organisation" else self.row.domain
            extend = bool(each.standing.ends_at) and self.may(rights.STOP, domain)
            found.append((each, extend, self.may(rights.LIFT, domain)))
        return found

    def runnable(self, judgements: Sequence[Judgement]) -> list[str]:
        """Return the controllers that watch the resource and that the one who looks may run."""
        found = [each.controller for each in judgements]
        return [each.name for each in found if self.may(rights.OPERATE, each.domain)]

    @property
    def edit(self) -> str:
        """Where the one who looks edits the declaration, if they may."""
        return detail.links(self.person, self.row).get("edit", "") if self.person else ""

    @property
    def override(self) -> str:
        """Where a hold is placed on the resource."""
        return f"{reverse('hold-new')}?resource={self.row}"
