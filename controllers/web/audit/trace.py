"""One story: everything that carries the same correlation id, from the trigger to its end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from django.http import Http404, HttpResponse, JsonResponse

from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Cycle, Proposal
from controllers.narrative import event_text, proposal_text
from controllers.narrative.event_text import Happening
from controllers.web.audit import ledger_check, waterfall
from controllers.web.audit.waterfall import Bar, Story
from controllers.web.base.page import Page, PageRequest, Part, part
from resources.tables import ledger
from resources.tables.batches import batches
from resources.tables.models import LedgerEvent
from resources.usecases.access_rules import page

# As many entries as one page tells and proves; the export has all.
MOST = 500
FOLLOWED = 30
SHORT = 6
IDS = re.compile(r"[A-Za-z0-9._-]{1,64}")
STARTED = "controller.reconciliation-started"
ENDED = "controller.reconciliation-completed"
ENDINGS: Mapping[str, tuple[str, str, str]] = {
    "": ("Running", "accent", "play"),
    "failed": ("Failed", "danger", "circle-alert"),
    "timed_out": ("Took too long", "danger", "clock"),
    "lost": ("Process lost", "danger", "circle-alert"),
    "interrupted": ("Interrupted", "warn", "circle-pause"),
    "superseded": ("Handed on", "warn", "arrow-right"),
    "partial": ("Completed in part", "warn", "triangle-alert"),
}
COMPLETED = ("Completed", "ok", "check")


class Proof(NamedTuple):
    """How many of the entries shown are as they were written."""

    verified: int
    entries: int

    @property
    def whole(self) -> bool:
        """Whether all are."""
        return self.verified == self.entries


class Trace(Page):
    """The story of one correlation id."""

    rights = page()
    template = "audit/trace.html"
    section = "audit"

    def __init__(self, look: PageRequest, correlation: str) -> None:
        super().__init__(look)
        self.correlation = correlation

    def pieces(self) -> Mapping[str, Part]:
        """Show it anew when anything that is part of it moves on."""
        topics = {each.stream for each in self.entries} | {each.subject for each in self.entries}
        if self.cycle is not None and self.cycle.finished_at is None:
            topics.add("proposal")
        return {
            **super().pieces(),
            "trace-head": part("audit/_trace_head.html", *topics, shared=True),
            "trace-bars": part("audit/_trace_bars.html", *topics, shared=True),
            "trace-after": part("audit/_trace_after.html", *topics, shared=True),
            "trace-entries": part("audit/_trace_entries.html", *topics, shared=True),
        }

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer the page, or with `format=json` every entry as a CloudEvents document."""
        if not self.entries:
            raise Http404("No entry of the log carries this id.")
        if self.look.query.get("format") != "json":
            return super().respond(status)
        found = LedgerEvent.objects.filter(correlation_id=self.correlation).order_by("id")
        documents = [ledger.as_cloudevent(each) for each in found.iterator(chunk_size=2_000)]
        response = JsonResponse(documents, safe=False, json_dumps_params={"indent": 1})
        name = f"trace-{self.short}.json"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    @property
    def short(self) -> str:
        """The id as a link writes it."""
        return self.correlation[:SHORT]

    @cached_property
    def entries(self) -> list[LedgerEvent]:
        """The entries, in order."""
        if not IDS.fullmatch(self.correlation):
            return []
        found = LedgerEvent.objects.filter(correlation_id=self.correlation).order_by("id")
        return list(found[: MOST + 1])

    @property
    def shown(self) -> list[LedgerEvent]:
        """As many entries as the page tells."""
        return self.entries[:MOST]

    @property
    def more(self) -> bool:
        """Whether there are entries that the page does not tell."""
        return len(self.entries) > MOST

    @cached_property
    def told(self) -> list[Happening]:
        """The entries in words."""
        return event_text.told(self.shown)

    @cached_property
    def cycle(self) -> Cycle | None:
        """The cycle of this story, if it is one's."""
        of = {each.event: each for each in self.entries if each.event in (STARTED, ENDED)}
        begun, ended = of.get(STARTED), of.get(ENDED)
        if begun is None and ended is None:
            return None
        uid = (begun or ended).stream.partition("/")[2]  # type: ignore[union-attr]
        rows = Cycle.objects.filter(controller__uid=uid).select_related("controller")
        if ended is not None and isinstance((ended.payload or {}).get("cycle"), int):
            return rows.filter(number=ended.payload["cycle"]).first()
        return rows.filter(finished_at=None, correlation_id=self.correlation).first()

    @cached_property
    def proposals(self) -> list[Proposal]:
        """The proposals that the story tells of."""
        subjects = {each.subject for each in self.entries if each.subject.startswith("proposal/")}
        numbers = sorted(int(each.partition("/")[2]) for each in subjects)
        rows = Proposal.objects.select_related("resource", "controller")
        return [each for batch in batches(numbers) for each in rows.filter(pk__in=batch)]

    @cached_property
    def bars(self) -> list[Bar]:
        """The waterfall of the cycle."""
        if self.cycle is None or not self.cycle.times:
            return []
        kind = str(self.cycle.controller.spec.get("targetKind", ""))
        story = Story(self.cycle, self.shown, self.proposals, kind, self.now)
        return waterfall.waterfall(story)

    @property
    def axis(self) -> list[str]:
        """The marks above the waterfall."""
        return waterfall.axis(self.cycle) if self.cycle else []

    @property
    def ending(self) -> tuple[str, str, str]:
        """How the cycle stands: a word, its tone and its icon."""
        return ENDINGS.get(self.cycle.outcome, COMPLETED) if self.cycle else COMPLETED

    @cached_property
    def title(self) -> str:
        """What the story is about."""
        if self.cycle is not None:
            return f"One cycle of {self.cycle.controller.name}"
        first = self.told[0]
        return f"{first.who} {first.text}"

    @cached_property
    def lede(self) -> str:
        """What the cycle came to, in one sentence."""
        if self.cycle is None or not self.cycle.counts:
            return ""
        counts, events = self.cycle.counts, [each.event for each in self.entries]
        kind = str(self.cycle.controller.spec.get("targetKind", ""))
        proposed, ran = events.count("proposal.created"), events.count("proposal.executed")
        said = [
            f"Read {waterfall.plural(kind, int(counts.get('watched', 0)))}",
            f"found {counts.get('drifted', 0):,} drifting",
            f"made {waterfall.several(proposed, 'proposal')}",
            *([f"ran {ran:,}"] if ran else []),
        ]
        return f"{', '.join(said)}."

    @property
    def took(self) -> str:
        """How long the cycle took."""
        if self.cycle is None or self.cycle.finished_at is None:
            return ""
        lasted = self.cycle.finished_at - self.cycle.started_at
        return waterfall.lasting(max(lasted.total_seconds(), 0) * 1000)

    @cached_property
    def proof(self) -> Proof:
        """Whether the entries are as they were written: each hash is worked out anew."""
        return Proof(len(ledger_check.intact(self.shown)), len(self.shown))

    @cached_property
    def followed(self) -> list[Happening]:
        """What came of it: what people and proposals did, without the look itself."""
        of = ("proposal.", "hold.")
        told = [each for each in self.told if each.event.startswith(of)]
        return [each for each in told if each.event != "proposal.created"][-FOLLOWED:]

    @cached_property
    def waiting(self) -> Sequence[tuple[str, Proposal]]:
        """The proposals that still wait for people, with what they would do."""
        return [
            (proposal_text.title(each), each)
            for each in self.proposals
            if each.state in WAITING and each.expires_at > self.now
        ]
