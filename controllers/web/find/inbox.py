"""What people were told and nobody outside took: read here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers.access import preferences
from controllers.models import Channel, Delivery, Preference
from controllers.narrative import proposal_text
from controllers.web.base.page import Page, part
from controllers.web.base.shell import HERE
from resources.tables.models import Resource
from resources.usecases.access_rules import SEEN, page, rights

SHOWN = 50
# Messages are told with what they are about.
TOLD_WITH = ("proposal", "hold", "controller", "resource", "system", "person")
# No key is larger.
LARGEST = 2**63 - 1
TONES = {"critical": "danger", "error": "danger", "warning": "warn"}
ICONS = {"danger": "circle-alert", "warn": "triangle-alert", "": "megaphone"}


@dataclass(frozen=True)
class Message:
    """One message as somebody reads it."""

    key: int
    at: datetime
    title: str
    body: str
    severity: str
    unread: bool
    # Where it was to go, and why it is here.
    channel: str
    kept: str
    # Whether what it is about is over: nothing when that is not a question.
    over: datetime | None
    rings: bool
    about: str
    url: str

    @property
    def tone(self) -> str:
        """The tone of its severity."""
        return TONES.get(self.severity, "")

    @property
    def icon(self) -> str:
        """The icon of its severity."""
        return ICONS[self.tone]


class Inbox(Page):
    """The messages, newest first."""

    rights = page()
    template = "finding/inbox.html"
    section = "inbox"
    parts = {
        "inbox-head": part("finding/_inbox_head.html", *TOLD_WITH),
        "inbox-list": part("finding/_inbox_list.html", *TOLD_WITH),
    }

    @cached_property
    def before(self) -> int:
        """The message that the page before ended with."""
        asked = self.look.query.get("before", "")
        return min(int(asked), LARGEST) if asked.isdecimal() and len(asked) < 20 else 0

    @cached_property
    def seen(self) -> int:
        """The last message somebody has read."""
        mine = Preference.objects.filter(person=self.viewer).values_list("read_upto", flat=True)
        return mine.first() or 0

    @cached_property
    def rows(self) -> list[Delivery]:
        """One page of messages, and one more when there are more."""
        kept = Delivery.objects.filter(state__in=HERE).order_by("-pk")
        if self.before:
            kept = kept.filter(pk__lt=self.before)
        related = ("alert__resource", "proposal__resource", "hold")
        return list(kept.select_related(*related)[: SHOWN + 1])

    @cached_property
    def messages(self) -> list[Message]:
        """The messages of this page."""
        names = {row.channel for row in self.rows[:SHOWN]}
        found = Channel.objects.filter(name__in=names).values_list("name", "enabled")
        channels = dict(found)
        return [message_of(row, row.pk > self.seen, channels) for row in self.rows[:SHOWN]]

    @property
    def older(self) -> int:
        """Where the next page begins, when there is one."""
        return self.rows[SHOWN - 1].pk if len(self.rows) > SHOWN else 0

    @property
    def newest(self) -> int:
        """The newest message that is shown."""
        return self.rows[0].pk if self.rows else 0


def message_of(row: Delivery, unread: bool, channels: dict[str, bool]) -> Message:
    """Tell a message to somebody."""
    about, url = subject_of(row)
    title, body = words_of(row)
    return Message(
        key=row.pk,
        at=row.created_at,
        title=title,
        body=body,
        severity=row.severity,
        unread=unread,
        channel=row.channel,
        kept=why_here(row, channels),
        over=row.alert.resolved_at if row.alert else None,
        rings=row.alert is not None,
        about=about,
        url=url,
    )


def words_of(row: Delivery) -> tuple[str, str]:
    """Say what a message says; of one proposal in the words of the other pages."""
    if row.proposal is None:
        return row.title, row.body
    opening, _, _ = row.title.rpartition(": ")
    return f"{opening}: {proposal_text.title(row.proposal)}", f"{proposal_text.why(row.proposal)}."


def why_here(row: Delivery, channels: dict[str, bool]) -> str:
    """Say why a message is read here, when it was to go elsewhere."""
    if not row.channel:
        return ""
    if row.state == Delivery.State.GIVEN_UP:
        return f"{row.channel} did not take it: read here"
    if row.channel not in channels:
        return f"{row.channel} is not connected: read here"
    if not channels[row.channel]:
        return f"{row.channel} is switched off: read here"
    return f"{row.channel} was not connected then: read here"


def subject_of(row: Delivery) -> tuple[str, str]:
    """Name what a message is about, and where that is."""
    if row.proposal is not None:
        return proposal_text.number(row.proposal), reverse("proposal", args=[row.proposal.pk])
    if row.hold is not None:
        return f"hold/{row.hold.pk}", reverse("hold", args=[row.hold.pk])
    if row.alert is not None:
        return str(row.alert.resource), address_of(row.alert.resource)
    return "", ""


def address_of(resource: Resource) -> str:
    """Return where a resource is read about; one that was deleted is in the log alone."""
    if resource.deleted_at is not None:
        return ""
    if resource.kind == "Controller":
        return reverse("controller", args=[resource.name])
    return reverse("resource", args=[resource.kind.lower(), resource.name])


@rights(page(None, SEEN))
@require_POST
def read(request: HttpRequest) -> HttpResponse:
    """Mark as read what somebody has been shown."""
    upto = request.POST.get("upto", "")
    if not upto.isdecimal() or len(upto) > len(str(LARGEST)):
        messages.warning(request, "Nothing was marked: reload and try again.", "warn")
    elif isinstance(request.user, User):
        preferences.read_upto(request.user, min(int(upto), LARGEST))
        messages.success(request, "Everything up to here is marked as read.")
    return HttpResponseRedirect(reverse("inbox"), status=303)
