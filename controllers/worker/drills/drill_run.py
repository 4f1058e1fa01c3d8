"""A drill: pause a canary on the live system, and prove that the pause stops what it would do.

Five steps, each with what it found: an effect goes through, the canary is paused, an effect under
the pause is refused, the pause is lifted, and the same effect is no longer refused. Each is a
write of its own, so whatever is killed in the middle is seen and ended by the next worker.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, transaction

from controllers.access import people, roles
from controllers.decisions import escalation, holds
from controllers.engine.precedence import Reach
from controllers.models import Drill, Step
from controllers.notifications import delivery
from controllers.worker.drills import canary
from controllers.workqueue.target_store import EVERYWHERE
from resources.documents.actor import SYSTEM, Actor
from resources.documents.problems import missing, refused
from resources.store import announcements
from resources.tables import ledger
from resources.tables.models import Resource
from resources.usecases import statuses

logger = logging.getLogger("ioa.drills")

# One that takes longer has lost its process; its pause ends by the clock at the same time.
LEASE = timedelta(minutes=2)
PAUSED = "Paused"
LONGEST_PROBLEM = 1_000


class Disproved(Exception):
    """The pause did not do what a pause has to do; the message says what happened."""


def find(name: str) -> Resource:
    """Return a Governance."""
    rows = Resource.objects.filter(kind="Governance", name=name, deleted_at=None)
    found = rows.first()
    if found is None:
        raise missing(f"There is no governance/{name}.")
    return found


def ask(
    name: str, *, now: datetime, person: User | None = None, actor: Actor | None = None
) -> Drill:
    """Ask for a drill; the loop runs it. A person needs the right to operate there."""
    governance = find(name)
    if person is not None:
        roles.check_operate(person, domain_of(governance), now)
        actor = people.actor_for(person)
    by = actor or SYSTEM
    try:
        with transaction.atomic():
            drill = Drill.objects.create(
                governance=governance, state=Drill.State.ASKED, author=str(by), asked_at=now
            )
            tell(drill, "asked", {}, actor=by, now=now)
    except IntegrityError:
        raise refused(f"A drill of {governance} is asked for already, or under way.") from None
    return drill


def domain_of(governance: Resource) -> str:
    """Return the domain whose people may ask for a drill; nothing is the organisation."""
    return "" if governance.domain == EVERYWHERE else governance.domain


def run(key: int, now: datetime) -> Drill | None:
    """Run a drill that was asked for; of many who try, one does."""
    begun = {"state": Drill.State.RUNNING, "begun_at": now, "until": now + LEASE}
    with transaction.atomic():
        if not Drill.objects.filter(pk=key, state=Drill.State.ASKED).update(**begun):
            return None
        drill = Drill.objects.select_related("governance").get(pk=key)
        tell(drill, "begun", {}, actor=SYSTEM, now=now)
    story = ledger.correlation.set(str(drill.uid))
    try:
        problem = carried_out(drill, now)
        end(drill, problem, now)
    finally:
        ledger.correlation.reset(story)
    return drill


def carried_out(drill: Drill, now: datetime) -> str:
    """Go through the steps; return what was wrong, or nothing."""
    try:
        if way := in_the_way(drill, now):
            return way
        for step in STEPS:
            name = step.__name__.strip("_")
            drill.evidence = [*drill.evidence, {"step": name, "found": step(drill, now)}]
            drill.save(update_fields=["evidence"])
    except Disproved as error:
        return str(error)
    except DatabaseError:
        raise
    except Exception as error:  # whatever kept it from proving anything is its result
        logger.exception("%s could not be carried out.", drill)
        return f"It could not be carried out: {type(error).__name__}: {error}"[:LONGEST_PROBLEM]
    return ""


def in_the_way(drill: Drill, now: datetime) -> str:
    """Say which hold stands already: under it nothing could be shown."""
    reach = Reach(0, drill.governance.domain, None, ())
    hold = holds.covering(reach, now)
    return f"Nothing could be shown: {hold.kind} {hold.key} stands already." if hold else ""


def _control(drill: Drill, now: datetime) -> str:
    """An effect of the canary goes through, so that a refusal later means something."""
    canary.make(drill, now)
    done = canary.attempt(canary.propose(drill, "archive-memory", "archived", now), now)
    if canary.state_of(drill) != "archived":
        raise Disproved(f"Before the pause the canary could not act: {done.held_reason}.")
    return f"proposal/{done.pk} was carried out."


def _pause(drill: Drill, now: datetime) -> str:
    """The canary is paused, and the pause stands."""
    owner = Resource.objects.get(pk=drill.controller_id or 0)
    hold = holds.rehearse(owner, drill.until or now + LEASE, now)
    drill.hold = hold
    drill.save(update_fields=["hold"])
    return f"hold/{hold.pk} stands, epoch {hold.epoch}."


def _attempt(drill: Drill, now: datetime) -> str:
    """An effect under the pause is refused, and nothing of it happens."""
    wish = canary.attempt(canary.propose(drill, "restore-memory", "active", now), now)
    happened = Step.objects.filter(proposal=wish).exists() or canary.state_of(drill) != "archived"
    if happened:
        raise Disproved(f"proposal/{wish.pk} was carried out although its controller was paused.")
    if wish.held != PAUSED:
        raise Disproved(f"proposal/{wish.pk} was not refused by the pause: {wish.state}.")
    return f"proposal/{wish.pk} was refused: {wish.held_reason}"


def _lift(drill: Drill, now: datetime) -> str:
    """The pause is lifted, and none is left."""
    if drill.hold_id is not None:
        holds.end_rehearsal(drill.hold_id, now)
    reach = Reach(drill.target_id or 0, drill.governance.domain, drill.controller_id, ())
    left = holds.covering(reach, now)
    if left is not None:
        raise Disproved(f"hold/{left.key} still stands over the canary after the pause.")
    return f"hold/{drill.hold_id} is lifted, none is left."


def _afterwards(drill: Drill, now: datetime) -> str:
    """The same effect is no longer refused: it is done, or people would be asked first."""
    wish = drill.target.proposed.latest("pk") if drill.target else None
    if wish is None:
        raise Disproved("The canary is gone.")
    wish = canary.attempt(wish, now)
    if wish.state == "pending":
        return f"proposal/{wish.pk} is free again: people would be asked first."
    if canary.state_of(drill) != "active":
        raise Disproved(f"After the pause proposal/{wish.pk} is still held: {wish.held_reason}")
    return f"proposal/{wish.pk} was carried out."


STEPS: tuple[Callable[[Drill, datetime], str], ...] = (
    _control,
    _pause,
    _attempt,
    _lift,
    _afterwards,
)


def end(drill: Drill, problem: str, now: datetime) -> bool:
    """End a drill: no hold and no canary stays, and only one that passed counts as a test."""
    tidy(drill, now)
    passed = not problem
    state = Drill.State.PASSED if passed else Drill.State.FAILED
    ended = {"state": state, "ended_at": now, "problem": problem[:LONGEST_PROBLEM]}
    with transaction.atomic():
        if not Drill.objects.filter(pk=drill.pk, state=Drill.State.RUNNING).update(**ended):
            return False
        for name, value in ended.items():
            setattr(drill, name, value)
        payload = {"evidence": drill.evidence, **({"error": problem} if problem else {})}
        tell(drill, "passed" if passed else "failed", payload, actor=SYSTEM, now=now)
        if passed:
            prove(drill, now)
        else:
            alarm(drill.governance, f"drill/{drill.uid}", problem, now)
    return True


def tidy(drill: Drill, now: datetime) -> None:
    """Leave nothing behind, however far it came."""
    owner = Resource.objects.filter(kind="Controller", name=canary.name_of(drill)).first()
    if owner is not None:
        for key in owner.holds_on.filter(ended_at=None).values_list("pk", flat=True):
            holds.end_rehearsal(key, now)
    canary.remove(drill, now)


def prove(drill: Drill, now: datetime) -> None:
    """Move when the way to step in was last tested: the drill is the evidence."""
    said = {"lastOverrideTest": ledger.instant(now)}
    report = statuses.Report("Governance", drill.governance.name, said)
    statuses.observe([report], actor=SYSTEM, now=now)


def alarm(governance: Resource, key: str, problem: str, now: datetime) -> None:
    """Tell the first level of the escalation, and everybody who looks."""
    first = escalation.Charter.read().paths(governance.domain)[0]
    for channel in {"", first.channel}:
        delivery.tell(
            channel,
            title=f"Critical: the way to step in is not proven for {governance}",
            body=f"{problem}\nUntil a drill passes, do not rely on a pause there.",
            severity="critical",
            key=f"{key}/{channel}",
            now=now,
        )


def tell(
    drill: Drill, event: str, payload: dict[str, Any], *, actor: Actor, now: datetime
) -> None:
    """Write what happened to a drill into its chain, and announce it on commit."""
    told = {"drill": drill.pk, "resource": str(drill.governance), **payload}
    severity = "critical" if event == "failed" else "info"
    entry = ledger.Entry(
        drill.stream, f"drill.{event}", str(drill.governance), told, severity=severity
    )
    ledger.append([entry], actor=actor, now=now)
    announcements.announce()
