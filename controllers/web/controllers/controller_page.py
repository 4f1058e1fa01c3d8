"""The page of one controller: its loop, its mode, its checks, its breaker and its cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from controllers.access import roles
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Alert, Cycle, Proposal
from controllers.narrative import proposal_text
from controllers.narrative.time_text import span_in_words
from controllers.trust import decision_quality, promotions, track_record
from controllers.trust.decision_quality import Quality
from controllers.web.base.page import Page, PageRequest, Part, part
from controllers.web.controllers import cycle_text, modes
from controllers.web.controllers.controller_summary import (
    Loop,
    loops,
    may,
    padded,
    spoken,
    strip_label,
    who,
)
from controllers.web.controllers.cycle_page import found
from controllers.web.controllers.hook_results import HookRow, checks_of
from resources.tables.models import Resource, ResourceRevision
from resources.usecases.access_rules import page

STRIP, ROWS = 60, 10
LONGEST_NUMBER = 15
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Trip:
    """The last time the breaker opened."""

    at: datetime
    why: str
    # Who let it try again, and how long that took.
    reset_by: str = ""
    after: str = ""


class ControllerPage(Page):
    """One controller."""

    rights = page()
    template = "controllers/page.html"
    section = "controllers"

    def __init__(self, look: PageRequest, name: str) -> None:
        super().__init__(look)
        self.name = name

    def pieces(self) -> Mapping[str, Part]:
        """It is about one controller, and what people said of it."""
        own = f"controller/{self.name}"
        return {
            **super().pieces(),
            "header": part("controllers/_header.html", own, "hold", shared=True),
            "pausing": part("controllers/_pausing.html", "hold", "person"),
            "loop": part("controllers/_loop.html", own, shared=True),
            "modes": part("controllers/_modes.html", own, "proposal", "person"),
            "checks": part("controllers/_checks.html", own, shared=True),
            "breaker": part("controllers/_breaker_card.html", own, "proposal", "person"),
            "facts": part("controllers/_facts.html", own, shared=True),
            "autonomy": part("controllers/_autonomy.html", own, "proposal", "person"),
            "track": part("controllers/_track.html", "proposal", shared=True),
            "cycles": part("controllers/_cycles.html", own, "retention.dropped", shared=True),
        }

    @cached_property
    def row(self) -> Resource:
        """The controller as it is declared."""
        return found(self.name)

    @cached_property
    def loop(self) -> Loop:
        """How it stands."""
        (own,) = loops([self.row], self.shell.standing)
        return own

    @cached_property
    def held_by(self) -> str:
        """Who paused it."""
        return who(self.loop.hold.author) if self.loop.hold else ""

    @cached_property
    def stopped(self) -> str:
        """Why its breaker is open."""
        runtime = self.loop.runtime
        return spoken([runtime.breaker_reason])[0] if runtime else ""

    # The loop.

    @cached_property
    def running(self) -> Cycle | None:
        """The cycle that runs now."""
        return Cycle.objects.filter(controller=self.row, finished_at=None).last()

    @cached_property
    def last(self) -> Cycle | None:
        """The last cycle that looked at everything, with all it wrote down."""
        ended = self.loop.full
        return Cycle.objects.filter(pk=ended.pk).first() if ended else None

    @cached_property
    def since(self) -> Cycle | None:
        """The last cycle after it, which looked only at what changed."""
        last = self.loop.last
        return last if last and self.last and last.number > self.last.number else None

    @cached_property
    def phases(self) -> list[cycle_text.Phase]:
        """The five phases of that cycle."""
        return cycle_text.phases(self.last, self.loop.kind) if self.last else []

    # The mode.

    @cached_property
    def past(self) -> modes.Past:
        """What each mode would have done."""
        return modes.consequences(self.row.pk, self.loop.declared, self.loop.mode, self.now)

    @cached_property
    def wanted(self) -> list[tuple[Proposal, str]]:
        """The open proposals to change how it is declared, with their titles."""
        near = Proposal.objects.filter(resource=self.row, state__in=OPEN)
        rows = near.select_related("resource").order_by("pk")[:ROWS]
        return [(each, proposal_text.title(each)) for each in rows]

    @cached_property
    def declared(self) -> ResourceRevision | None:
        """The last time it was declared."""
        version = self.row.declared_version
        return ResourceRevision.objects.filter(resource_version=version).first()

    @cached_property
    def declared_by(self) -> str:
        """Who declared it."""
        return who(self.declared.actor) if self.declared else ""

    # The checks around each cycle.

    @cached_property
    def checks(self) -> list[HookRow]:
        """Its hooks, with what the last cycle says of each."""
        declared = self.loop.declared
        if declared is None:
            return []
        return checks_of(declared, self.last)

    # The breaker.

    @cached_property
    def changes(self) -> int:
        """How many of its proposals were carried out in the last hour."""
        return Proposal.objects.filter(
            controller=self.row, executed_at__gte=self.now - HOUR
        ).count()

    @cached_property
    def trip(self) -> Trip | None:
        """The last time its breaker opened."""
        opened = Alert.objects.filter(
            controller=self.row, resource=self.row, reason="BreakerOpen"
        ).order_by("-raised_at")
        alert = opened.first()
        if alert is None:
            return None
        (why,) = spoken([alert.message.partition(": ")[2]])
        tried = Cycle.objects.filter(controller=self.row, started_at__gte=alert.raised_at)
        trial = tried.exclude(requested_by="").order_by("number").first()
        if trial is None:
            return Trip(alert.raised_at, why)
        after = span_in_words(trial.started_at - alert.raised_at)
        return Trip(alert.raised_at, why, who(trial.requested_by), after)

    # Its cycles.

    @cached_property
    def before(self) -> int | None:
        """Below which number the table begins; nothing means at the newest."""
        asked = self.look.query.get("before", "")
        readable = asked.isascii() and asked.isdecimal() and len(asked) <= LONGEST_NUMBER
        return int(asked) if readable else None

    @cached_property
    def history(self) -> list[str]:
        """How the last cycles ended, the newest last."""
        ran = Cycle.objects.filter(controller=self.row).order_by("-number")
        outcomes = ran.values_list("outcome", flat=True)[:STRIP]
        return [cycle_text.STRIP.get(each, "none") for each in reversed(outcomes)]

    @cached_property
    def strip(self) -> list[str]:
        """Their bars."""
        return padded(self.history, STRIP)

    @cached_property
    def strip_label(self) -> str:
        """What the strip shows."""
        return strip_label(self.history)

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """The cycles of the table, and one more if there is one."""
        ran = Cycle.objects.filter(controller=self.row).order_by("-number")
        if self.before is not None:
            ran = ran.filter(number__lt=self.before)
        return [
            {"cycle": each, "result": cycle_text.sentence(each), "took": cycle_text.lasted(each)}
            for each in ran.defer("hooks", "actions")[: ROWS + 1]
        ]

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The cycles that are shown."""
        return self.table[:ROWS]

    @cached_property
    def older(self) -> int | None:
        """Where the next page begins."""
        last: int = self.table[ROWS - 1]["cycle"].number if len(self.table) > ROWS else 0
        return last or None

    # Its past, and who looks.

    @cached_property
    def record(self) -> track_record.Record:
        """What became of its proposals."""
        return track_record.of(str(self.row), self.now)

    @cached_property
    def standings(self) -> list[promotions.Standing]:
        """How far it has come in what it may do alone."""
        return promotions.of(self.row, self.now)

    @cached_property
    def quality(self) -> Quality:
        """How people decide about what it proposes."""
        return decision_quality.of_controller(str(self.row), self.now)

    @cached_property
    def may_operate(self) -> bool:
        """Whether the one who looks may run it."""
        return may(roles.check_operate, self.viewer, self.row.domain, self.now)

    @cached_property
    def may_propose(self) -> bool:
        """Whether the one who looks may propose another mode."""
        return may(roles.check_propose, self.viewer, self.row.domain, self.now)

    @cached_property
    def may_stop(self) -> bool:
        """Whether the one who looks may pause it."""
        return may(roles.check_stop, self.viewer, self.row.domain, self.now)

    @cached_property
    def may_lift(self) -> bool:
        """Whether the one who looks may resume it."""
        return may(roles.check_lift, self.viewer, self.row.domain, self.now)
