"""The audit log: every entry of the ledger, newest first, with what it was about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers.narrative import event_text
from controllers.narrative.event_text import Happening
from controllers.web.audit import audit_filters, ledger_check
from controllers.web.audit.audit_export import export
from controllers.web.audit.audit_filters import Filters
from controllers.web.base.page import Page, Part, part
from resources.store import evidence
from resources.tables.models import Checkpoint
from resources.usecases.access_rules import WHOLE, page, rights

__all__ = ["Audit", "export", "verify"]

ROWS = 50


class FilterLink(NamedTuple):
    """A filter one click away: its words, the query it leads to, and whether it is on."""

    words: str
    query: str
    on: bool


class Rows(NamedTuple):
    """One page of the log."""

    happenings: list[Happening]
    # The query of the next page; it is cut when no more than a window was looked through.
    older: str
    cut: bool


class Seal(NamedTuple):
    """The newest signed checkpoint, and whether its signature holds."""

    upto: int
    at: datetime
    holds: bool


class Audit(Page):
    """The log as somebody filters it."""

    rights = page()
    template = "audit/page.html"
    section = "audit"
    parts = {
        "audit-seal": part("audit/_seal.html", "*", shared=True),
        "audit-rows": part("audit/_rows.html", "*", shared=True),
    }

    def pieces(self) -> Mapping[str, Part]:
        """Leave an older page as it was found: nothing new belongs there."""
        pieces = dict(super().pieces())
        if self.filters.before:
            del pieces["audit-rows"]
        return pieces

    @cached_property
    def filters(self) -> Filters:
        """What is asked for."""
        return audit_filters.read(self.look.query)

    @cached_property
    def picks(self) -> list[FilterLink]:
        """The filters one click away."""
        first = replace(self.filters, before=None)
        return [
            FilterLink("Everything", "", not first.narrowed),
            *(
                FilterLink(words, replace(first, show=name).address, first.show == name)
                for name, words in audit_filters.SHOWN.items()
            ),
        ]

    @cached_property
    def typed(self) -> list[FilterLink]:
        """The filters that somebody typed, each with the query without it."""
        filters = self.filters
        words = {
            "actor": f"By {filters.actor}",
            "on": f"On {filters.on}",
            "event": f"Event {filters.event}",
            "since": f"From {at_words(filters.since)}",
            "until": f"Until {at_words(filters.until)}",
        }
        return [
            FilterLink(said, filters.without(name).address, True)
            for name, said in words.items()
            if getattr(filters, name)
        ]

    @cached_property
    def rows(self) -> Rows:
        """The entries of this page."""
        below, floor, cut = self.filters.bounds()
        chosen = self.filters.chosen().filter(id__lt=below, id__gte=floor)
        found = list(chosen.order_by("-id")[: ROWS + 1])
        more = len(found) > ROWS
        last = found[ROWS - 1].pk if more else floor
        older = replace(self.filters, before=last).address if more or cut else ""
        return Rows(event_text.told(found[:ROWS]), older, cut and not more)

    @cached_property
    def seal(self) -> Seal | None:
        """The newest signed checkpoint."""
        made = Checkpoint.objects.order_by("-number").first()
        return Seal(made.upto, made.at, evidence.signed(made)) if made else None


def at_words(at: datetime | None) -> str:
    """Write the time of a filter."""
    return f"{at.day} {at:%b %Y, %H:%M} UTC" if at else ""


@rights(page(None, WHOLE))
@require_POST
def verify(request: HttpRequest) -> HttpResponse:
    """Prove the chain, and say on the log's page what was found."""
    verdict = ledger_check.check()
    level = messages.SUCCESS if verdict.whole else messages.ERROR
    tags = "ok" if verdict.whole else verdict.tone
    messages.add_message(request, level, verdict.sentence, extra_tags=tags)
    return HttpResponseRedirect(reverse("audit"), status=303)
