"""What the forms about holds share: what was typed stays, and a refusal is a sentence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse

from controllers.models import Hold
from controllers.web.base.form import (
    FormPage,
    MomentInput,
    TypedField,
    WebForm,
)
from controllers.web.holds.hold_text import Rights
from resources.documents import kinds, reader
from resources.documents.problems import Problem, invalid
from resources.tables.models import Resource

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
LENGTHS = [(name, words) for name, (words, _) in LASTING.items()]
OPEN, USUAL = "open", "7d"
BEGUN = [
    (Hold.InFlight.STOP.value, "Stop after the call under way"),
    (Hold.InFlight.FINISH.value, "Let it finish"),
]


class ReasonForm(WebForm):
    """Why."""

    ids = "hold-%s"

    reason = TypedField(
        "Why?",
        forms.Textarea(),
        needed=True,
        maxlength="2000",
        placeholder="Kept in the audit log",
    )


class RenewForm(ReasonForm):
    """Why, and how long."""

    lasts = TypedField("Lasts", forms.Select(choices=LENGTHS), initial=USUAL)
    until = TypedField("Or until", MomentInput())


class PauseForm(RenewForm):
    """Why, how long, and what becomes of work that has begun."""

    in_flight = TypedField(
        "Work that has begun", forms.RadioSelect(choices=BEGUN), initial=Hold.InFlight.STOP.value
    )


class LiftForm(ReasonForm):
    """Why, and what becomes of the value that was held."""

    restore = TypedField("Afterwards", forms.RadioSelect())


class OverrideForm(PauseForm):
    """Which value is to be held at what."""

    on = TypedField("Resource", needed=True, maxlength="300", placeholder="agent/growth-optimizer")
    path = TypedField("Field", maxlength="512", placeholder="tokenBudget.maxDaily")
    value = TypedField("Hold it at", placeholder="180000", aria_describedby="hold-now")


class PlacedPauseForm(PauseForm):
    """What is to be paused."""

    on = TypedField(
        "What",
        needed=True,
        maxlength="300",
        list="hold-places",
        placeholder="controller/agent-performance, domain/growth or agent/scribe",
    )


class FreezeForm(PauseForm):
    """Which domain is to stay as it is, from when, and whether that comes back."""

    on = TypedField("Domain", maxlength="300", placeholder="Empty is everything")
    starts = TypedField("Begins", MomentInput())
    cron = TypedField("When (cron)", maxlength="100", placeholder="0 18 * * 5")
    duration = TypedField("How long each time", maxlength="40", placeholder="62h")
    timezone = TypedField("Time zone", maxlength="60", placeholder="UTC")


class HoldFormPage(FormPage):
    """A form about holds: a page of its own, or what a dialog shows."""

    section = "overrides"
    form_class = ReasonForm

    @property
    def in_flight(self) -> str:
        """The rule for work that has begun."""
        finishes = self.form.text("in_flight") == Hold.InFlight.FINISH
        return Hold.InFlight.FINISH if finishes else Hold.InFlight.STOP

    @property
    def usual(self) -> str:
        """How long it lasts unless somebody chooses otherwise."""
        return USUAL

    @cached_property
    def viewer_rights(self) -> Rights:
        """What the one who looks may do."""
        return Rights.of(self.viewer, self.now)

    def ends_at(self, begins: datetime | None = None) -> datetime | None:
        """Read the end: a time that was typed, or else a choice; nothing for an open one."""
        until, lasts = self.form.text("until"), self.form.text("lasts") or self.usual
        if until.strip():
            return instant(until)
        if lasts == OPEN:
            return None
        if lasts not in LASTING:
            raise invalid("Choose how long it lasts.")
        return (begins or self.now) + LASTING[lasts][1]

    def ending(self, begins: datetime | None = None) -> dict[str, Any]:
        """Return the end as a wish says it."""
        ends = self.ends_at(begins)
        return {"ends_at": ends, "open_ended": ends is None}

    def act(self, deed: Callable[[], tuple[str, str]]) -> HttpResponse:
        """Do something that returns where to go and what to say, or say why it was not done."""
        try:
            address, said = deed()
        except Problem as problem:
            return self.refuse(problem)
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
        raise invalid("A time looks like 2026-02-25T10:00, in UTC.") from None


def plain(text: str, what: str) -> str:
    """Return a name as it was typed; one that nothing can have is refused."""
    name = text.strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise invalid(f"{what} cannot be read.")
    return name


def find(reference: str) -> Resource:
    """Return the resource that a reference such as `agent/x` names."""
    path, _, name = plain(reference, "The name").partition("/")
    kind = kinds.by_path(path.lower())
    if kind is None or not name:
        raise invalid("Name it like agent/growth-optimizer.")
    found = Resource.objects.filter(kind=kind.name, name=name, deleted_at=None).first()
    if found is None:
        raise invalid(f"There is no {path.lower()}/{name}.")
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
            raise invalid(f"The value cannot be read: {error}") from None
    return typed
