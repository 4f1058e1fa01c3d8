"""The tables of proposals, controllers and holds as files, with every row the filters choose."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from controllers import grouping, happenings, holds, wording
from controllers.models import Hold, Proposal
from controllers.pages import files
from controllers.pages.approvals_filters import Filters, past, waiting
from controllers.pages.approvals_queue import Queue
from controllers.pages.controllers import SORTS, every
from controllers.pages.hold_words import Held, held
from controllers.pages.hold_words import rows as hold_rows
from controllers.pages.loops import Loop, loops
from controllers.roles.waiting import within_rights
from resources.ledger import instant

CHUNK = 500
PROPOSALS = (
    *("Number", "Title", "Why", "Kind", "Resource", "Domain", "Risk", "State", "Proposed by"),
    *("Made", "Lapses", "Changed", "Decided by", "Reason"),
)
CONTROLLERS = (
    *("Name", "State", "Mode", "Watches", "Watched", "Drifting", "Interval", "Last cycle"),
    *("Took", "Next cycle", "Breaker"),
)
HOLDS = (
    *("Number", "Kind", "Scope", "What", "Field", "Held at", "Spec said", "Who", "Why"),
    *("Placed", "Ends", "Ended", "Ended by"),
)


def written(at: datetime | None) -> str:
    """Write a time, if there is one."""
    return instant(at) if at else ""


@require_safe
def proposals(request: HttpRequest) -> StreamingHttpResponse:
    """Send the proposals that the filters of the queue choose."""
    filters, now = Filters.read(request.GET), timezone.now()
    person = request.user if isinstance(request.user, User) else User()
    found = chosen(filters, person, now)
    return files.download(request, proposal_lines(found, now), "proposals.csv")


def chosen(filters: Filters, person: User, now: datetime) -> QuerySet[Proposal]:
    """Return what the filters choose, in the order of the numbers."""
    rows = waiting(now) if filters.state == "open" else past(now, filters.state)
    if filters.mine:
        mine = within_rights(Queue(filters, person, now).speaking_for, now)
        rows = grouping.unanswered(rows.filter(mine), person)
    return filters.among(rows, now).order_by("pk")


def proposal_lines(found: QuerySet[Proposal], now: datetime) -> Iterator[files.Piece]:
    """Write proposals, each time only as many as fit in the memory."""
    yield files.heading(PROPOSALS)
    last = 0
    while chunk := list(found.filter(pk__gt=last)[:CHUNK]):
        names = happenings.people({each.proposer for each in chunk} | deciders(chunk))
        yield files.rows(proposal_cells(each, names, now) for each in chunk)
        last = chunk[-1].pk


def deciders(rows: list[Proposal]) -> set[str]:
    """Return who decided."""
    return {each.decided_by for each in rows if each.decided_by}


def proposal_cells(each: Proposal, names: dict[str, str], now: datetime) -> tuple[str, ...]:
    """Return what the file says of one proposal."""
    return (
        wording.number(each),
        wording.title(each),
        wording.why(each),
        each.resource.kind,
        each.resource.name,
        each.resource.domain,
        wording.RISKS.get(each.risk, each.risk),
        wording.state(each, now).text,
        happenings.named(each.proposer, names),
        written(each.created_at),
        written(each.expires_at),
        written(each.changed_at),
        happenings.named(each.decided_by, names) if each.decided_by else "",
        each.reason,
    )


@require_safe
def controllers(request: HttpRequest) -> StreamingHttpResponse:
    """Send all controllers, in the order of the table."""
    asked, now = request.GET.get("sort", ""), timezone.now()
    found = every(asked if asked in SORTS else "name")
    told = loops(found, holds.standing(now))
    pieces = (files.heading(CONTROLLERS), files.rows(map(controller_cells, told)))
    return files.download(request, iter(pieces), "controllers.csv")


def controller_cells(each: Loop) -> tuple[str, ...]:
    """Return what the file says of one controller."""
    return (
        each.row.name,
        each.sign.word,
        wording.mode(each.mode).name,
        each.kind.title if each.kind else "",
        str(each.watched),
        str(each.runtime.drifted if each.runtime else 0),
        each.every,
        written(each.runtime.last_run_at if each.runtime else None),
        each.took,
        written(each.due),
        each.breaker,
    )


@require_safe
def overrides(request: HttpRequest) -> StreamingHttpResponse:
    """Send every hold that there was, the newest first."""
    now = timezone.now()
    return files.download(request, hold_lines(now), "overrides.csv")


def hold_lines(now: datetime) -> Iterator[files.Piece]:
    """Write holds, each time only as many as fit in the memory."""
    yield files.heading(HOLDS)
    found: QuerySet[Hold] = hold_rows().order_by("-pk")
    below = None
    while chunk := list((found.filter(pk__lt=below) if below else found)[:CHUNK]):
        yield files.rows(hold_cells(each) for each in held(chunk, (), now))
        below = chunk[-1].pk


def hold_cells(each: Held) -> tuple[str, ...]:
    """Return what the file says of one hold."""
    hold = each.hold
    return (
        str(hold.pk),
        hold.kind,
        hold.scope,
        each.name,
        each.field,
        each.value,
        each.former if hold.value is not None else "",
        each.who,
        hold.reason,
        written(hold.placed_at),
        written(hold.ends_at),
        written(hold.ended_at),
        each.ender if hold.ended_at else "",
    )
