"""Write what became of the proposals of a chunk: few statements, however many there are."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery

from controllers.common import bulk_insert, judgement_writes
from controllers.common.judgement_writes import Table
from controllers.common.rows import Prepared, Slot, listed, these
from controllers.decisions import holds, proposals
from controllers.decisions.creation.attention_budget import NewQuestion, spread
from controllers.decisions.creation.proposal_factory import born, domain_of, renew, see
from controllers.decisions.creation.proposal_refresh import Changes, CycleContext
from controllers.decisions.creation.suppression import MOST_OPEN
from controllers.engine import proposal_lifecycle
from controllers.engine.proposal_lifecycle import Verb
from controllers.models import Alert, Decision, Proposal
from controllers.notifications import alerts
from controllers.workqueue.cycle_effects import Notice
from resources.store import announcements
from resources.tables import ledger
from resources.tables.bulk_tables import table_of

TOO_MANY = "TooManyProposals"
KEY = ("id",)
STATE = ("state", "lock", "changed_at")
HELD = ("held", "held_reason")
SEEN = ("score", "urgency", "explanation", "evidence", "confirmed_at")
PLAN = (
    *("revision", "actions", "action_digest", "planned_digest", "basis", "basis_digest"),
    *("cause", "mode", "risk", "reversible", "policy"),
)
CLOCKS = (
    *("expires_at", "execute_before", "run_at", "quiet_until", "quiet_above"),
    *("decided_at", "decided_by", "answer", "reason"),
)
MOVED = table_of(Proposal, (*KEY, *STATE, "outcome"), unique=KEY)
LINKED = table_of(Proposal, (*KEY, "superseded_by_id"), unique=KEY)
HOLDING = table_of(Proposal, (*KEY, *STATE, *HELD), unique=KEY)
CONFIRMED = table_of(Proposal, (*KEY, *SEEN), unique=KEY)
REVISED = table_of(Proposal, (*KEY, *STATE, *HELD, *SEEN, *PLAN, *CLOCKS), unique=KEY)
STORIES = {"effective": "verified", "worse": "failed"}

Entries = list[ledger.Entry]


def write(look: CycleContext, changes: Changes, now: datetime) -> None:
    """Write everything, inside the transaction of the chunk."""
    leave_moved(changes)
    closed = close(changes, now)
    made = create(look, changes, now)
    told = [*revise(changes, now), *hold(changes, now), *wake(changes, now)]
    confirm(changes, now)
    entries = [*closed, *succeed(changes, made), *made_known(made), *told]
    if entries:
        ledger.append(entries, actor=look.actor, now=now)
        announcements.announce()
    if changes.stopped:
        shadow(look, changes, now)
    if changes.created or changes.surplus:
        warn(look, changes, now)


def _locked() -> QuerySet[Proposal, Any]:
    """Ask for some proposals, and keep others from moving them."""
    rows = Proposal.objects.select_for_update().filter(pk__in=these(Slot("keys"))).order_by("pk")
    return rows.values_list("pk", "lock", *CLOCKS)


LOCKED = Prepared(_locked)


def leave_moved(changes: Changes) -> None:
    """Lock what is to be written; what somebody moved since it was read is theirs."""
    read = {each.pk: each.lock for each in changes.touched}
    if not read:
        return
    found = {key: row for key, *row in LOCKED(keys=listed(read))}
    moved = {key for key, lock in read.items() if key not in found or found[key][0] != lock}
    if moved:
        changes.leave(moved)
    for each in changes.touched:
        for name, value in zip(CLOCKS, found[each.pk][1:], strict=True):
            setattr(each, name, value)


def close(changes: Changes, now: datetime) -> Entries:
    """Close what came to its end; return what there is to tell of it."""
    told: list[tuple[Proposal, str, dict[str, Any]]] = []
    for each in changes.converged:
        move(each, "converge", now)
        told.append((each, "converged", {"reason": "The drift is gone."}))
    for each, shown in changes.verified:
        move(each, "verify" if shown == "effective" else "fail", now)
        each.outcome = shown
        told.append((each, STORIES[shown], {"outcome": shown}))
    for each, _ in changes.superseded:
        move(each, "supersede", now)
    rows = [*(each for each, _, __ in told), *(each for each, _ in changes.superseded)]
    judgement_writes.update(MOVED, [row(MOVED, each) for each in rows])
    return [proposals.entry_of(*each) for each in told]


def move(proposal: Proposal, verb: Verb, now: datetime) -> None:
    """Take a proposal to its next state."""
    state: Any = proposal.state
    proposal.state = proposal_lifecycle.after(state, verb)
    proposal.lock, proposal.changed_at = proposal.lock + 1, now


def create(
    look: CycleContext, changes: Changes, now: datetime
) -> list[tuple[Proposal, Proposal | None]]:
    """Propose what is new; what the policy lets run carries the policy's own decision."""
    made = [(born(look, wanted, former, now), former) for wanted, former in changes.created]
    places = [domain_of(wanted.case) for wanted, _ in changes.created]
    asked = zip(made, places, strict=True)
    spread([NewQuestion(each, former, place) for (each, former), place in asked], now)
    bulk_insert.create([each for each, _ in made])
    decided = [
        Decision(
            proposal=each,
            revision=each.revision,
            actor=each.decided_by,
            answer="approve",
            shown=each.action_digest,
            at=now,
        )
        for each, _ in made
        if each.lane == "run"
    ]
    bulk_insert.create(decided)
    return made


def succeed(changes: Changes, made: Iterable[tuple[Proposal, Proposal | None]]) -> Entries:
    """Let what was superseded name its successor."""
    successors = {former.pk: each for each, former in made if former is not None}
    linked: list[tuple[Any, ...]] = [(key, each.pk) for key, each in successors.items()]
    judgement_writes.update(LINKED, linked)
    return [
        proposals.entry_of(each, "superseded", {"reason": why, **named(successors.get(each.pk))})
        for each, why in changes.superseded
    ]


def named(successor: Proposal | None) -> dict[str, Any]:
    """Name the one that took the place of another."""
    return {"supersededBy": successor.pk} if successor is not None else {}


def made_known(made: Iterable[tuple[Proposal, Proposal | None]]) -> Entries:
    """Tell of what is new: what it would do, why, and who lets it run if nobody is asked."""
    return [
        proposals.entry_of(
            each,
            "created",
            {
                "lane": each.lane,
                "actions": each.actions,
                "explanation": each.explanation,
                **({"decidedBy": each.decided_by} if each.decided_by else {}),
                **({"attention": each.policy["attention"]} if each.delayed else {}),
                **({"supersedes": former.pk} if former is not None else {}),
            },
        )
        for each, former in made
    ]


def revise(changes: Changes, now: datetime) -> Entries:
    """Begin new revisions; votes go along where nothing got worse."""
    keeping = [each.pk for each, _, change in changes.revised if change != "revise"]
    if keeping:
        present = Proposal.objects.filter(pk=OuterRef("proposal")).values("revision")
        votes = Decision.objects.filter(proposal__in=these(keeping), revision=Subquery(present))
        votes.update(revision=F("revision") + 1)
    for proposal, wanted, change in changes.revised:
        renew(proposal, wanted, change, now)
    judgement_writes.update(REVISED, [row(REVISED, each) for each, _, __ in changes.revised])
    return [
        proposals.entry_of(
            each, "revised", {"votesKept": change != "revise", "actions": each.actions}
        )
        for each, _, change in changes.revised
    ]


def hold(changes: Changes, now: datetime) -> Entries:
    """Note what is in the way of proposals, or that it is gone."""
    for proposal, code, reason in changes.held:
        proposal.held, proposal.held_reason = code, reason
        proposal.lock, proposal.changed_at = proposal.lock + 1, now
    judgement_writes.update(HOLDING, [row(HOLDING, each) for each, _, __ in changes.held])
    return [
        proposals.entry_of(each, "held" if code else "freed", {"code": code, "reason": reason})
        for each, code, reason in changes.held
    ]


def wake(changes: Changes, now: datetime) -> Entries:
    """Show again what people put aside until it is worse."""
    if not changes.woken:
        return []
    rows = Proposal.objects.filter(pk__in=these([each.pk for each in changes.woken]))
    rows.update(quiet_until=None, quiet_above=None, lock=F("lock") + 1, changed_at=now)
    said = {"reason": "It has become worse."}
    return [proposals.entry_of(each, "woken", said) for each in changes.woken]


def confirm(changes: Changes, now: datetime) -> None:
    """Note that plans stand, and the figures where they moved."""
    moved = []
    for proposal, case in changes.confirmed:
        told = case.judgement
        if (proposal.score, proposal.urgency) != (told.score, told.urgency):
            see(proposal, case, now)
            moved.append(row(CONFIRMED, proposal))
    judgement_writes.update(CONFIRMED, moved)
    same = {each.pk for each, _ in changes.confirmed}.difference(each[0] for each in moved)
    if same:
        Proposal.objects.filter(pk__in=these(same)).update(confirmed_at=now)


def row(table: Table, proposal: Proposal) -> tuple[Any, ...]:
    """Spell a proposal as the values of a table's columns."""
    return tuple(getattr(proposal, name) for name in table.names)


def shadow(look: CycleContext, changes: Changes, now: datetime) -> None:
    """Write down what the holds are in the way of."""
    key = look.controller.key
    stopped = [
        holds.Shadowed(
            each.hold,
            key,
            each.case.judgement.resource,
            each.digest,
            each.actions,
            each.case.judgement.message,
        )
        for each in changes.stopped
    ]
    holds.shadow(stopped, now)


def warn(look: CycleContext, changes: Changes, now: datetime) -> None:
    """Tell people once that there is more than they are asked, until there is room again."""
    key = look.controller.key
    told = Alert.objects.filter(controller=key, resource=key, reason=TOO_MANY, resolved_at=None)
    if told.exists() == bool(changes.surplus):
        return
    if not changes.surplus:
        alerts.resolve(key, [key], now, {TOO_MANY})
        return
    more = f"{changes.surplus:,} more plans are not proposed until people have decided"
    said = f"{MOST_OPEN:,} proposals are open: {more}."
    notice = Notice(key, TOO_MANY, "", "error", said)
    alerts.raise_all(key, [notice], look.cycle.correlation_id, now)
