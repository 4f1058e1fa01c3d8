"""A pause for a drill: real in every way, on a canary, and over by the clock in any case."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from controllers.decisions.holds import hold_end, upkeep
from controllers.decisions.holds.hold_request import KIND, SCOPE, HoldRequest, drafted
from controllers.decisions.holds.placement import ATTEMPTS, exclude, tell, write
from controllers.models import Hold
from resources.documents.actor import SYSTEM, Actor
from resources.documents.problems import BUSY, REFUSED, Problem, forbidden
from resources.store import store
from resources.tables.models import Resource

# What a canary is labelled by; nothing else is ever paused or resumed from here.
LABEL = "ioa-drill"
REASON = "A drill: does a pause stop what this canary would do?"


def rehearse(canary: Resource, until: datetime, now: datetime) -> Hold:
    """Pause a canary the way every pause is placed; nobody has to be there to end it."""
    check(canary)
    author = Actor("controller", canary.name)
    wanted = HoldRequest(KIND.PAUSE, SCOPE.CONTROLLER, REASON, controller=canary.pk, ends_at=until)
    hold = drafted(wanted, author, None, now)
    hold.remind_at = None
    for _ in range(ATTEMPTS):
        with suppress(store.Stale), store.all_or_stale():
            exclude(hold)
            return write(hold, author, now).hold
    raise Problem(BUSY, "Others keep changing it. Try again.")


def end_rehearsal(key: int, now: datetime) -> None:
    """Lift the pause of a drill, however the drill ended; one that is over stays over."""
    check(hold_end.find(key).controller)

    def end(hold: Hold) -> None:
        why = "The drill is over."
        hold_end.close(hold, actor=SYSTEM, reason=why, now=now)
        tell(hold, "lifted", {"reason": why, "placedBy": hold.author}, actor=SYSTEM, now=now)

    try:
        hold_end.changed(key, end)
    except Problem as problem:
        if problem.code != REFUSED:
            raise
        # The clock was faster; if nobody has written that down, it is done here.
        upkeep.end(hold_end.find(key), now)


def check(canary: Resource | None) -> None:
    """Refuse everything but a canary: what people paused only people resume."""
    labels = canary.metadata.get("labels") if canary is not None else None
    if not isinstance(labels, dict) or LABEL not in labels:
        raise forbidden("Only the canary of a drill is paused and resumed by the product.")
