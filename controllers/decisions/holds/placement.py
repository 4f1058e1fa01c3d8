"""Place a hold: it waits for the effects that have begun, then nothing in its scope begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import F

from controllers.access import people, roles
from controllers.decisions import autonomy, database_lives, locks, proposals
from controllers.decisions.holds import in_force, override_values, scopes
from controllers.decisions.holds.hold_request import KIND, HoldRequest, drafted
from controllers.decisions.holds.scopes import Flight
from controllers.models import Hold, Proposal
from resources.documents.actor import Actor
from resources.documents.problems import BUSY, Problem, forbidden
from resources.store import announcements, store
from resources.tables import ledger

ATTEMPTS = 5


class Placed(NamedTuple):
    """A hold that stands, and the work that had begun before it."""

    hold: Hold
    in_flight: tuple[Flight, ...]

    @property
    def sentence(self) -> str:
        """What to tell the person who placed it."""
        return told(self.in_flight)


def told(flights: Sequence[Flight]) -> str:
    """Say how many calls are under way, and until when."""
    if not flights:
        return "Nothing is under way."
    calls = "1 call" if len(flights) == 1 else f"{len(flights)} calls"
    deadlines = [each.deadline for each in flights if each.deadline]
    if len(deadlines) < len(flights):
        return f"{calls} already on the wire."
    return f"{calls} already on the wire, drained by {max(deadlines):%H:%M:%S} UTC."


def place(
    wanted: HoldRequest, *, now: datetime, person: User | None = None, actor: Actor | None = None
) -> Placed:
    """Place a hold for a person, or for a machine that stops itself.

    A caller that has a transaction open holds no row and no lock in it yet, but for the exclusive
    lock of this very scope.
    """
    author = people.actor_for(person) if person is not None else actor
    if author is None:
        raise RuntimeError("A hold has an author.")
    if person is None:
        wanted = replace(wanted, open_ended=True, ends_at=None, owner=None)
    hold = drafted(wanted, author, person, now)
    check_right(hold, person, author, now)
    for _ in range(ATTEMPTS):
        with suppress(store.Stale), store.all_or_stale():
            exclude(hold)
            return write(hold, author, now)
    raise Problem(BUSY, "Others keep changing it. Try again.")


def check_right(hold: Hold, person: User | None, author: Actor, now: datetime) -> None:
    """Let people stop what they may, and machines only themselves."""
    if person is not None:
        roles.check_stop(person, domain_of(hold), now)
        return
    if database_lives.asks(hold):
        return
    own = {"controller": hold.controller, "agent": hold.resource}.get(author.kind)
    kind = author.kind.title()
    if hold.kind != KIND.PAUSE or own is None or (own.kind, own.name) != (kind, author.name):
        raise forbidden("A machine may pause itself, and nothing else.")


def domain_of(hold: Hold) -> str:
    """Return the domain whose people may speak of a hold; nothing is the organisation."""
    held = hold.resource or hold.controller
    return held.domain if held else hold.domain


def exclude(hold: Hold) -> None:
    """Take the lock of a hold's scope."""
    locks.exclude(
        hold.scope,  # type: ignore[arg-type]
        hold.domain,
        hold.controller_id,
        hold.resource_id,
    )


def write(hold: Hold, author: Actor, now: datetime) -> Placed:
    """Write a hold with all it brings about, under its lock."""
    if author.kind != "person" and (standing := same(hold, now)) is not None:
        return Placed(standing, ())
    hold.pk, hold.epoch = None, in_force.advance()
    flights = scopes.under_way(hold, now)
    hold.flights = [each.step for each in flights]
    if hold.value is not None:
        hold.former = override_values.put(
            hold, hold.value, actor=author, now=now, message=hold.reason
        )
    hold.save(force_insert=True)
    tell(hold, "placed", terms(hold) | {"inFlight": hold.flights}, actor=author, now=now)
    if hold.kind == KIND.OVERRIDE:
        answer_covered(hold, author, now)
        if hold.resource_id is not None:
            autonomy.overridden(hold.resource_id, author, now)
    return Placed(hold, flights)


def same(hold: Hold, now: datetime) -> Hold | None:
    """Return the pause that a machine has placed on itself already."""
    placed = Hold.objects.filter(
        kind=hold.kind,
        scope=hold.scope,
        controller=hold.controller,
        resource=hold.resource,
        author=hold.author,
    )
    found: Hold | None = in_force.lasting(placed, now).first()
    return found


def answer_covered(hold: Hold, author: Actor, now: datetime) -> None:
    """Answer the proposals that an override covers: this is done instead."""
    stood = scopes.as_standing(hold)
    instead = {"hold": hold.pk, "path": hold.path, "value": hold.value, "reason": hold.reason}
    for each in scopes.held_by(hold).order_by("pk"):
        if not scopes.covers(stood, each):
            continue
        # What somebody decided or the clock ended meanwhile needs no answer.
        with suppress(Problem):
            proposals.move(
                proposals.take(each.pk, "override", now),
                "override",
                actor=author,
                now=now,
                payload={"from": each.state, "decidedBy": each.decided_by, "instead": instead},
                decided_at=now,
                decided_by=str(author),
                answer="override",
                reason=hold.reason,
            )


def terms(hold: Hold) -> dict[str, Any]:
    """Write what a hold says as the ledger keeps it."""
    said = {
        "kind": hold.kind,
        "scope": hold.scope,
        "path": hold.path,
        "value": hold.value,
        "former": hold.former,
        "window": hold.window,
        "startsAt": ledger.instant(hold.starts_at) if hold.starts_at else None,
        "endsAt": ledger.instant(hold.ends_at) if hold.ends_at else None,
        "onWorkInFlight": hold.in_flight,
        "owner": hold.owner.get_username() if hold.owner else None,
        "proposal": hold.proposal_id,
        "reason": hold.reason,
    }
    return {name: value for name, value in said.items() if value not in (None, "", {})}


def tell(
    hold: Hold, event: str, payload: Mapping[str, Any], *, actor: Actor, now: datetime
) -> None:
    """Write what happened to a hold into its chain, and announce it on commit."""
    told = {"hold": hold.pk, "epoch": hold.epoch, **payload}
    entry = ledger.Entry(hold.stream, f"hold.{event}", hold.subject, told)
    ledger.append([entry], actor=actor, now=now)
    announcements.announce()


def drained(hold: Hold, now: datetime) -> tuple[Flight, ...]:
    """Return what of the work that had begun is still under way; nothing when it is drained."""
    return scopes.under_way(hold, now, hold.flights) if hold.flights else ()


def resume(hold: Hold) -> None:
    """Let what people approved begin at once, and the controllers only propose at first.

    A full cycle that begins from now on clears that; the one under way does not.
    """
    scopes.controllers_of(hold).update(only_proposes_from=F("cycles") + 1)
    keys = scopes.put_off_by(hold).order_by("pk").select_for_update(of=("self",), no_key=True)
    freed = [*keys.values_list("pk", flat=True)]
    Proposal.objects.filter(pk__in=freed).update(run_at=None)
