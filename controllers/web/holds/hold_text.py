"""Holds as people read them: what is held, at which value, by whom, why and until when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.contrib.auth.models import User
from django.db.models import QuerySet

from controllers.access.roles import rights
from controllers.decisions.holds import override_values, placement
from controllers.models import Hold
from controllers.narrative import event_text

SOON = timedelta(hours=24)
ALL = 100.0
WORDS = {"override": "Override", "pause": "Pause", "freeze": "Freeze", "stop": "Everything paused"}
ICONS = {"override": "hand", "pause": "circle-pause", "freeze": "circle-pause", "stop": "pause"}


@dataclass(frozen=True)
class Rights:
    """Where somebody may stop things and let them go again; nothing there is the organisation."""

    stops: frozenset[str]
    lifts: frozenset[str]

    @classmethod
    def of(cls, person: User, now: datetime) -> Rights:
        """Read somebody's rights once, for many holds."""
        roles = {*rights.STOP, *rights.LIFT}
        held = rights.anywhere(roles, now).filter(person=person.pk).values_list("role", "domain")
        found = list(held)
        return cls(
            frozenset(domain for role, domain in found if role in rights.STOP),
            frozenset(domain for role, domain in found if role in rights.LIFT),
        )

    def stop(self, domain: str) -> bool:
        """Tell whether they may stop things in a domain."""
        return bool({"", domain} & self.stops)

    def lift(self, domain: str) -> bool:
        """Tell whether they may let things go again in a domain."""
        return bool({"", domain} & self.lifts)


NONE = Rights(frozenset(), frozenset())


@dataclass(frozen=True)
class Held:
    """One hold with the name of who said it, as it stands at a moment."""

    hold: Hold
    who: str
    ender: str
    in_force: bool
    now: datetime
    # Of the one who looks; nobody looks at what is the same for all.
    rights: Rights = NONE

    @property
    def may_lift(self) -> bool:
        """Whether the one who looks may lift it."""
        return not self.ended and self.rights.lift(self.domain)

    @property
    def may_renew(self) -> bool:
        """Whether the one who looks may let it stand longer."""
        has_end = self.hold.ends_at is not None
        return has_end and not self.ended and self.rights.stop(self.domain)

    @property
    def ended(self) -> bool:
        """Whether it is over, written down or not."""
        ends = self.hold.ends_at
        return self.hold.ended_at is not None or (ends is not None and ends <= self.now)

    @property
    def domain(self) -> str:
        """The domain whose people may speak of it."""
        return placement.domain_of(self.hold)

    @property
    def name(self) -> str:
        """What is held, shortly."""
        held = self.hold.resource or self.hold.controller
        return held.name if held else self.hold.domain or "everything"

    @property
    def url(self) -> str:
        """Where to read about what is held."""
        return event_text.place(self.hold.subject)

    @property
    def field(self) -> str:
        """The field, as people name it."""
        return event_text.field(self.hold.path.replace(".", "/")) if self.hold.path else ""

    @property
    def value(self) -> str:
        """What it is held at."""
        if self.hold.kind != "override":
            return "frozen" if self.hold.kind == "freeze" else "paused"
        return "as it is" if self.hold.value is None else event_text.shortly(self.hold.value)

    @property
    def former(self) -> str:
        """What stood there before."""
        return "not set" if self.hold.former is None else event_text.shortly(self.hold.former)

    @cached_property
    def anew(self) -> str:
        """What somebody declared since then, if it is not the value that was put there."""
        row = self.hold.resource
        if self.hold.value is None or row is None or self.ended:
            return ""
        found = override_values.at(row.spec, self.hold.path)
        return "" if found == self.hold.value else event_text.shortly(found)

    @property
    def word(self) -> str:
        """The kind in a word."""
        return WORDS[self.hold.kind]

    @property
    def icon(self) -> str:
        """The sign of the kind."""
        return ICONS[self.hold.kind]

    @property
    def title(self) -> str:
        """What it says, in one sentence."""
        if self.hold.kind == "override":
            what = f"{self.field} of {self.name}" if self.field else self.name
            said = "was" if self.ended else "is"
            at = "as it is" if self.hold.value is None else f"at {self.value}"
            return f"{what} {said} held {at}"
        said = "was" if self.ended else "is" if self.in_force else "will be"
        name = "Everything" if self.name == "everything" else self.name
        return f"{name} {said} {self.value}"

    @property
    def left(self) -> float:
        """How much of its time is left, of a hundred."""
        ends, begun = self.hold.ends_at, self.hold.starts_at or self.hold.placed_at
        if ends is None or ends <= begun:
            return ALL
        return max(0.0, min(ALL, ALL * (ends - self.now) / (ends - begun)))

    @property
    def soon(self) -> bool:
        """Whether it ends within a day."""
        return self.hold.ends_at is not None and self.hold.ends_at - self.now < SOON


def rows() -> QuerySet[Hold]:
    """Return holds with what they name."""
    return Hold.objects.select_related("controller", "resource", "owner")


def held(
    found: Sequence[Hold], standing: Iterable[int], now: datetime, rights: Rights = NONE
) -> list[Held]:
    """Tell holds, with the names in them read once for all."""
    names = event_text.people(each for row in found for each in (row.author, row.ended_by))
    forced = set(standing)
    return [
        Held(
            each,
            event_text.named(each.author, names),
            event_text.named(each.ended_by, names),
            each.pk in forced,
            now,
            rights,
        )
        for each in found
    ]
