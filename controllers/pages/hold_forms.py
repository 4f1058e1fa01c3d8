"""What the forms about holds share: what was typed stays, and a refusal is a sentence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse

from controllers import holds, roles
from controllers.models import Hold
from controllers.pages.form import CONFLICT, FORBIDDEN, UNREADABLE, FormPage
from controllers.pages.hold_words import Rights
from resources import kinds, reader
from resources.models import Resource

LONGEST_NAME = 300
# How long a hold may be placed or put off for with one choice.
LASTING = {
    "1h": ("1 hour", timedelta(hours=1)),
    "8h": ("8 hours", timedelta(hours=8)),
    "1d": ("1 day", timedelta(days=1)),
    "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "90d": ("90 days", timedelta(days=90)),
}
OPEN = "open"


class Form(FormPage):
    """A form about holds: a page of its own, or what a dialog shows."""

    section = "overrides"
    usual: ClassVar[str] = "7d"

    @property
    def unreasoned(self) -> bool:
        """Whether it is the reason that is missing."""
        return bool(self.problem) and not self.reason.strip()

    @property
    def lasts(self) -> str:
        """The choice of how long."""
        return self.typed("lasts") or self.usual

    @property
    def until(self) -> str:
        """The end as it was typed."""
        return self.typed("until")

    @property
    def finishes(self) -> bool:
        """Whether work that has begun may end."""
        return self.typed("in_flight") == Hold.InFlight.FINISH

    @property
    def in_flight(self) -> str:
        """The rule for work that has begun."""
        return Hold.InFlight.FINISH if self.finishes else Hold.InFlight.STOP

    @property
    def lasting(self) -> list[tuple[str, str]]:
        """The choices of how long."""
        return [(name, words) for name, (words, _) in LASTING.items()]

    @cached_property
    def rights(self) -> Rights:
        """What the one who looks may do."""
        return Rights.of(self.viewer, self.now)

    def ends_at(self, begins: datetime | None = None) -> datetime | None:
        """Read the end: a time that was typed, or else a choice; nothing for an open one."""
        if self.until.strip():
            return instant(self.until)
        if self.lasts == OPEN:
            return None
        if self.lasts not in LASTING:
            raise holds.Refused("Choose how long it lasts.")
        return (begins or self.now) + LASTING[self.lasts][1]

    def ending(self, begins: datetime | None = None) -> dict[str, Any]:
        """Return the end as a wish says it."""
        ends = self.ends_at(begins)
        return {"ends_at": ends, "open_ended": ends is None}

    def act(self, deed: Callable[[], tuple[str, str]]) -> HttpResponse:
        """Do something that returns where to go and what to say, or say why it was not done."""
        try:
            address, said = deed()
        except roles.Denied as error:
            return self.refuse(str(error), FORBIDDEN)
        except (holds.Ended, holds.Missing) as error:
            return self.refuse(str(error), CONFLICT)
        except holds.Refused as error:
            return self.refuse(str(error), UNREADABLE)
        return self.leave(address, said)

    def leave(self, address: str, said: str) -> HttpResponse:
        """Say that it is done, and go on; a dialog is told where."""
        request = self.look.request
        if request is None:
            raise RuntimeError("Nobody sent this form.")
        messages.success(request, said, extra_tags="ok")
        return self.leave_for(address)


def page_of(hold: Hold) -> str:
    """Return where a hold is shown."""
    return reverse("hold", args=[hold.pk])


def instant(text: str) -> datetime:
    """Read a time as its field sends it: in UTC, unless it names a zone."""
    try:
        at = datetime.fromisoformat(text.strip())
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise holds.Refused("A time looks like 2026-02-25T10:00, in UTC.") from None


def plain(text: str, what: str) -> str:
    """Return a name as it was typed; one that nothing can have is refused."""
    name = text.strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise holds.Refused(f"{what} cannot be read.")
    return name


def find(reference: str) -> Resource:
    """Return the resource that a reference such as `agent/x` names."""
    path, _, name = plain(reference, "The name").partition("/")
    kind = kinds.by_path(path.lower())
    if kind is None or not name:
        raise holds.Refused("Name it like agent/growth-optimizer.")
    found = Resource.objects.filter(kind=kind.name, name=name, deleted_at=None).first()
    if found is None:
        raise holds.Refused(f"There is no {path.lower()}/{name}.")
    return found


def as_value(text: str) -> Any:
    """Read a value: a number, true, false or JSON by its form, anything else is a text."""
    typed = text.strip()
    if not typed:
        return None
    try:
        return reader.read_json(typed)
    except reader.Unreadable as error:
        if typed[0] in '{["':
            raise holds.Refused(f"The value cannot be read: {error}") from None
    return typed
