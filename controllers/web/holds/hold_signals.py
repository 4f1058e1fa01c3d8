"""What overrides tell: a controller that people correct again and again has the wrong target."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.urls import reverse

from controllers.models import Hold, Proposal
from controllers.narrative import event_text

SPAN = timedelta(days=30)
# From so many on, it is more than an accident.
MANY = 3
MOST = 2_000
UPWARD, DOWNWARD = "upward", "downward"
VERDICTS = {
    UPWARD: "always upward. Its target is probably too low.",
    DOWNWARD: "always downward. Its target is probably too high.",
    "": "in both directions. Look at its target.",
}


class Signal(NamedTuple):
    """How often people held one field against one controller."""

    who: str
    url: str
    field: str
    times: int
    verdict: str


class Signals(NamedTuple):
    """What the overrides of the last days tell."""

    overrides: int
    repeated: list[Signal]
    # Of whom there are how many others, corrected more rarely.
    others: int


def signals(now: datetime, controllers: int) -> Signals:
    """Count the overrides of the last days by controller and field."""
    since = now - SPAN
    rows = Hold.objects.filter(kind=Hold.Kind.OVERRIDE, placed_at__gte=since)
    found = list(rows.select_related("resource", "proposal__controller")[:MOST])
    answered = proposers(since) if found else {}
    groups: dict[tuple[str, str], list[Hold]] = {}
    for each in found:
        who = opponent(each, answered)
        groups.setdefault((who, event_text.field(each.path.replace(".", "/"))), []).append(each)
    often = [signal(*key, each) for key, each in groups.items() if len(each) >= MANY]
    often.sort(key=lambda each: (-each.times, each.who, each.field))
    named = {each.who for each in often if each.who.startswith("controller/")}
    return Signals(len(found), [shown(each) for each in often], max(controllers - len(named), 0))


def proposers(since: datetime) -> dict[tuple[int, datetime | None], str]:
    """Return whose proposals were answered by doing something else, by resource and moment."""
    rows = Proposal.objects.filter(state="overridden", decided_at__gte=since)
    fields = ("resource", "decided_at", "controller__name")
    return {
        (resource, at): f"controller/{name}"
        for resource, at, name in rows.values_list(*fields)
        if name
    }


def opponent(hold: Hold, answered: dict[tuple[int, datetime | None], str]) -> str:
    """Return whom a hold was placed against: a controller, or else the resource's own spec."""
    if hold.proposal is not None and hold.proposal.controller is not None:
        return str(hold.proposal.controller)
    return answered.get((hold.resource_id or 0, hold.placed_at), str(hold.resource))


def signal(who: str, field: str, found: list[Hold]) -> Signal:
    """Say how often, and whether always in one direction."""
    ways = set(directions(found))
    verdict = VERDICTS.get(ways.pop() if len(ways) == 1 else "", VERDICTS[""]) if ways else ""
    return Signal(who, "", field, len(found), verdict)


def shown(found: Signal) -> Signal:
    """Name the one it is about, and where its target is changed."""
    kind, _, name = found.who.partition("/")
    address = event_text.place(found.who) or reverse("resources")
    return found._replace(who=name if kind else found.who, url=address)


def directions(found: Iterable[Hold]) -> Iterable[str]:
    """Yield which way each override went, where that can be said."""
    for each in found:
        if number(each.value) and number(each.former) and each.value != each.former:
            yield UPWARD if each.value > each.former else DOWNWARD


def number(value: Any) -> bool:
    """Tell whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
