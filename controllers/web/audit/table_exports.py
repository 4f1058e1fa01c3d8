"""The tables of proposals, controllers and holds as files, with every row the filters choose."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from controllers.access.roles.pending_decisions import within_rights
from controllers.decisions import holds, proposal_groups
from controllers.models import Hold, Proposal
from controllers.narrative import event_text, proposal_text
from controllers.web.approvals.queue_filters import Filters, past, waiting
from controllers.web.approvals.queue_groups import Queue
from controllers.web.base import spreadsheet
from controllers.web.controllers.controller_list import SORTS, every
from controllers.web.controllers.controller_summary import Loop, loops
from controllers.web.holds.hold_text import Held, held
from controllers.web.holds.hold_text import rows as hold_rows
from resources.tables.ledger import instant
from resources.usecases.access_rules import TAKEN, page, rights

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


@rights(page(TAKEN))
@require_safe
def proposals(request: HttpRequest) -> StreamingHttpResponse:
    """Send the proposals that the filters of the queue choose."""
    filters, now = Filters.read(request.GET), timezone.now()
    person = request.user if isinstance(request.user, User) else User()
    found = chosen(filters, person, now)
    return spreadsheet.download(request, proposal_lines(found, now), "proposals.csv")


def chosen(filters: Filters, person: User, now: datetime) -> QuerySet[Proposal]:
    """Return what the filters choose, in the order of the numbers."""
    rows = waiting(now) if filters.state == "open" else past(now, filters.state)
    if filters.mine:
        mine = within_rights(Queue(filters, person, now).speaking_for, now)
        rows = proposal_groups.unanswered(rows.filter(mine), person)
    return filters.among(rows, now).order_by("pk")


def proposal_lines(found: QuerySet[Proposal], now: datetime) -> Iterator[spreadsheet.Piece]:
    """Write proposals, each time only as many as fit in the memory."""
    yield spreadsheet.heading(PROPOSALS)
    last = 0
    while chunk := list(found.filter(pk__gt=last)[:CHUNK]):
        names = event_text.people({each.proposer for each in chunk} | deciders(chunk))
        yield spreadsheet.rows(proposal_cells(each, names, now) for each in chunk)
        last = chunk[-1].pk


def deciders(rows: list[Proposal]) -> set[str]:
    """Return who decided."""
    return {each.decided_by for each in rows if each.decided_by}


def proposal_cells(each: Proposal, names: dict[str, str], now: datetime) -> tuple[str, ...]:
    """Return what the file says of one proposal."""
    return (
        proposal_text.number(each),
        proposal_text.title(each),
        proposal_text.why(each),
        each.resource.kind,
        each.resource.name,
        each.resource.domain,
        proposal_text.RISKS.get(each.risk, each.risk),
        proposal_text.state(each, now).text,
        event_text.named(each.proposer, names),
        written(each.created_at),
        written(each.expires_at),
        written(each.changed_at),
        event_text.named(each.decided_by, names) if each.decided_by else "",
        each.reason,
    )


@rights(page(TAKEN))
@require_safe
def controllers(request: HttpRequest) -> StreamingHttpResponse:
    """Send all controllers, in the order of the table."""
    asked, now = request.GET.get("sort", ""), timezone.now()
    found = every(asked if asked in SORTS else "name")
    told = loops(found, holds.standing(now))
    pieces = (spreadsheet.heading(CONTROLLERS), spreadsheet.rows(map(controller_cells, told)))
    return spreadsheet.download(request, iter(pieces), "controllers.csv")


def controller_cells(each: Loop) -> tuple[str, ...]:
    """Return what the file says of one controller."""
    return (
        each.row.name,
        each.sign.word,
        proposal_text.mode(each.mode).name,
        each.kind.title if each.kind else "",
        str(each.watched),
        str(each.runtime.drifted if each.runtime else 0),
        each.every,
        written(each.runtime.last_run_at if each.runtime else None),
        each.took,
        written(each.due),
        each.breaker,
    )


@rights(page(TAKEN))
@require_safe
def overrides(request: HttpRequest) -> StreamingHttpResponse:
    """Send every hold that there was, the newest first."""
    now = timezone.now()
    return spreadsheet.download(request, hold_lines(now), "overrides.csv")


def hold_lines(now: datetime) -> Iterator[spreadsheet.Piece]:
    """Write holds, each time only as many as fit in the memory."""
    yield spreadsheet.heading(HOLDS)
    found: QuerySet[Hold] = hold_rows().order_by("-pk")
    below = None
    while chunk := list((found.filter(pk__lt=below) if below else found)[:CHUNK]):
        yield spreadsheet.rows(hold_cells(each) for each in held(chunk, (), now))
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
