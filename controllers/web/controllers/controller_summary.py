"""A controller as the pages show it: how it stands, what it did last, when it looks next."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import F, Max

from controllers.engine import configuration
from controllers.engine.precedence import Standing
from controllers.engine.terms import Controller
from controllers.models import Cycle, Runtime, WorkItem
from controllers.narrative import event_text
from controllers.narrative.time_text import span_in_words
from controllers.web.controllers import cycle_text
from controllers.workqueue import compiled_controllers
from resources.documents import kinds
from resources.documents.kind import Kind
from resources.documents.problems import Problem
from resources.tables.models import Resource

STRIP = 30
# How many cycles back a look at everything is searched for.
LATELY = 200


class Sign(NamedTuple):
    """How a state is shown: a word, a tone and an icon, never the tone alone."""

    word: str
    tone: str
    icon: str


SIGNS: Mapping[str, Sign] = {
    "invalid": Sign("Cannot run", "danger", "circle-alert"),
    "tripped": Sign("Tripped", "danger", "zap"),
    "paused": Sign("Paused", "warn", "circle-pause"),
    "testing": Sign("Testing", "warn", "refresh-cw"),
    "silent": Sign("Silent", "danger", "clock"),
    "outside": Sign("Run outside", "info", "plug"),
    "new": Sign("Starting", "info", "clock"),
    "running": Sign("Running", "ok", "circle-check"),
}


def state_of(runtime: Runtime | None, hold: Standing | None, outside: bool = False) -> str:
    """Name how a controller stands."""
    if runtime is None:
        return "new"
    if runtime.problem:
        return "invalid"
    if runtime.breaker == Runtime.Breaker.OPEN:
        return "tripped"
    if hold is not None:
        return "paused"
    if runtime.breaker == Runtime.Breaker.HALF_OPEN:
        return "testing"
    if outside:
        return "silent" if is_silent(runtime) else "outside"
    return "running" if runtime.cycles else "new"


def is_silent(runtime: Runtime) -> bool:
    """Tell whether an outside process fell silent and was not heard again."""
    if runtime.stalled_at is None:
        return False
    return runtime.heard_at is None or runtime.heard_at <= runtime.stalled_at


def hold_on(standing: Iterable[Standing], key: int) -> Standing | None:
    """Return the hold that stops all of a controller: of everything, or of itself."""
    near = [each for each in standing if each.kind == "stop" or each.controller == key]
    return near[0] if near else None


def who(actor: str) -> str:
    """Return what people call whoever did something."""
    return event_text.named(actor, event_text.people([actor]))


def spoken(reasons: Sequence[str]) -> list[str]:
    """Put the names of people in the place of how reasons begin with them in the ledger."""
    parts = [reason.partition(": ") for reason in reasons]
    names = event_text.people([actor for actor, *_ in parts])
    return [f"{names.get(actor, actor)}{mark}{rest}" for actor, mark, rest in parts]


def may(
    check: Callable[[User, str, datetime], None], person: User, domain: str, now: datetime
) -> bool:
    """Tell whether somebody may do something in a domain."""
    try:
        check(person, domain, now)
    except Problem:
        return False
    return True


@dataclass(frozen=True)
class Loop:
    """A controller as the pages show it."""

    row: Resource
    runtime: Runtime | None
    # Nothing when it cannot be run.
    declared: Controller | None
    hold: Standing | None
    due: datetime | None
    # The last cycle that ended, and the last of them that looked at everything.
    last: Cycle | None
    full: Cycle | None
    history: Sequence[str]

    @property
    def state(self) -> str:
        """How it stands."""
        return state_of(self.runtime, self.hold, self.outside)

    @property
    def outside(self) -> bool:
        """Whether another process runs it."""
        return self.declared is not None and self.declared.runner == "external"

    @property
    def sign(self) -> Sign:
        """How that is shown."""
        return SIGNS[self.state]

    @property
    def breaker(self) -> str:
        """Its breaker: closed, open or half_open."""
        return self.runtime.breaker if self.runtime else ""

    @property
    def mode(self) -> str:
        """How far it may go."""
        return configuration.mode_of(self.row.spec)

    @property
    def kind(self) -> Kind | None:
        """What it watches."""
        return kinds.by_name(str(self.row.spec.get("targetKind")))

    @property
    def watched(self) -> int:
        """How many resources it looks after."""
        return self.runtime.watched if self.runtime else 0

    @property
    def noun(self) -> str:
        """What it watches, as many as there are."""
        return cycle_text.noun(self.kind, self.watched)

    @property
    def every(self) -> str:
        """How often it looks."""
        if self.declared is None:
            return ""
        said = span_in_words(self.declared.interval)
        return "day" if said == "1 day" else said

    @property
    def took(self) -> str:
        """How long its last look at everything took."""
        return cycle_text.lasted(self.full) if self.full else ""

    @property
    def failed(self) -> bool:
        """Whether its last cycle went wrong."""
        return self.last is not None and cycle_text.STRIP.get(self.last.outcome) == "failed"

    @property
    def strip(self) -> list[str]:
        """The bars of its last cycles."""
        return padded(self.history, STRIP)

    @property
    def strip_label(self) -> str:
        """What the strip of its cycles shows."""
        return strip_label(self.history)


def strip_label(history: Sequence[str]) -> str:
    """Say what a strip of cycles shows."""
    counts = Counter(cycle_text.STRIP_WORDS[each] for each in history)
    return f"Last cycles: {cycle_text.tallied(counts)}"


def padded(history: Sequence[str], length: int) -> list[str]:
    """Fill a strip from the left, so that a bar is as wide as in any other."""
    return [*["none"] * (length - len(history)), *history]


def loops(rows: Sequence[Resource], standing: Sequence[Standing]) -> list[Loop]:
    """Read how controllers stand, for all of them at once."""
    keys = [row.pk for row in rows]
    whole = WorkItem.objects.filter(controller__in=keys, resource=F("controller"), parked_at=None)
    due = dict(whole.values_list("controller", "run_at"))
    recent = Cycle.objects.filter(
        controller__in=keys, number__gt=F("controller__runtime__cycles") - STRIP
    )
    history: dict[int, list[str]] = defaultdict(list)
    for key, outcome in recent.order_by("number").values_list("controller", "outcome"):
        history[key].append(cycle_text.STRIP.get(outcome, "none"))
    last, full = last_of(keys), full_of(keys)
    return [
        Loop(
            row,
            getattr(row, "runtime", None),
            compiled_controllers.attempt((row.pk, row.generation)),
            hold_on(standing, row.pk),
            due.get(row.pk),
            last.get(row.pk),
            full.get(row.pk, last.get(row.pk)),
            history[row.pk],
        )
        for row in rows
    ]


def last_of(controllers: Sequence[int]) -> dict[int, Cycle]:
    """Return the last cycle of each that ended."""
    latest = Cycle.objects.filter(
        controller__in=controllers,
        number__gt=F("controller__runtime__cycles") - 2,
        finished_at__isnull=False,
    )
    ordered = latest.order_by("number").defer("hooks", "actions")
    return {each.controller_id: each for each in ordered}


def full_of(controllers: Sequence[int]) -> dict[int, Cycle]:
    """Return the last cycle of each that looked at everything, if it was not long ago."""
    lately = Cycle.objects.filter(
        controller__in=controllers,
        number__gt=F("controller__runtime__cycles") - LATELY,
        finished_at__isnull=False,
        full=True,
    )
    keys = lately.values("controller").annotate(key=Max("pk")).values_list("key", flat=True)
    found = Cycle.objects.filter(pk__in=list(keys)).defer("hooks", "actions")
    return {each.controller_id: each for each in found}
