"""A track record drafts a promotion: what people approve every time is put before two of them.

Per operation and domain: how many were approved in a row since the last setback, under the present
declaration. The bar is declared (`spec.autonomy`); without one nothing is ever drafted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers import operations
from controllers.access import people, roles
from controllers.decisions import autonomy
from controllers.decisions.creation.draft import Author, draft
from controllers.decisions.creation.submission import file
from controllers.engine.proposal_lifecycle import OPEN
from controllers.engine.terms import Controller
from controllers.models import Autonomy, Proposal
from controllers.operations.catalogue.autonomy import GRANT
from controllers.workqueue import compiled_controllers
from resources.documents.actor import SYSTEM, Actor
from resources.documents.problems import missing
from resources.tables.models import Resource

# No more proposals are gone through for one record.
MOST = 2_000
GOOD = ("approve", "break_glass")
BAD = ("reject", "accept", "override", "undo")
UNDONE = ("rolled_back", "overridden", "failed")


class Standing(NamedTuple):
    """How far a controller has come with one operation in one domain."""

    operation: str
    domain: str
    # Approved in a row since the last setback, and how many that takes.
    approvals: int
    bar: int
    setbacks: int = 0
    held: Autonomy | None = None
    proposal: int | None = None

    @property
    def reached(self) -> bool:
        """Whether the bar is reached."""
        return self.approvals >= self.bar


class Record(NamedTuple):
    """The row of a proposal, as far as a record needs it."""

    actions: list[dict[str, Any]]
    domain: str
    answer: str
    state: str
    outcome: str
    risk: str
    reversible: bool
    lane: str

    @property
    def good(self) -> bool:
        """Whether a person approved it, as it was planned, and nothing speaks against it."""
        done = self.state in ("succeeded", "verifying") and self.outcome != "worse"
        return self.lane == "ask" and self.answer in GOOD and done

    @property
    def bad(self) -> bool:
        """Whether it was a setback."""
        return self.answer in BAD or self.state in UNDONE or self.outcome == "worse"


def of(row: Resource, now: datetime) -> list[Standing]:
    """Return the record of a controller for each operation and domain, as it stands."""
    controller = compiled_controllers.attempt((row.pk, row.generation))
    if controller is None or controller.earns is None:
        return []
    held = {(each.operation, each.domain): each for each in granted(row)}
    asked = drafted(row)
    found = counted(row, controller, now)
    return [
        Standing(
            *pair,
            *found.get(pair, (0, 0))[:1],
            controller.earns.approvals,
            found.get(pair, (0, 0))[1],
            held.get(pair),
            asked.get(pair),
        )
        for pair in sorted({*found, *held, *asked})
    ]


def granted(row: Resource) -> Iterator[Autonomy]:
    """Return what a controller holds under the declaration in force."""
    rows = Autonomy.objects.filter(controller=row, ended_at=None, generation=row.generation)
    return iter(rows.select_related("proposal"))


def drafted(row: Resource) -> dict[tuple[str, str], int]:
    """Return the promotions that people have not answered, by what they are about."""
    rows = Proposal.objects.filter(resource=row, proposer=str(row), state__in=OPEN)
    given = {
        each.pk: each.actions[0]["parameters"]
        for each in rows
        if each.actions[0]["operation"] == GRANT
    }
    return {(each["operation"], each["domain"]): key for key, each in given.items()}


def counted(
    row: Resource, controller: Controller, now: datetime
) -> dict[tuple[str, str], tuple[int, int]]:
    """Count approvals in a row and setbacks, the oldest proposal first."""
    within = controller.earns.within if controller.earns else timedelta(0)
    names = ("actions", "resource__domain", *Record._fields[2:])
    rows = Proposal.objects.filter(controller=row, changed_at__gte=now - within)
    latest = list(rows.order_by("-pk").values_list("basis", *names)[:MOST])
    found: dict[tuple[str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for basis, *given in reversed(latest):
        # Another declaration has a record of its own.
        if basis.get("controller") != row.generation:
            continue
        each = Record(*given)
        for operation in {step["operation"] for step in each.actions}:
            if simple(operation, each):
                approvals, setbacks = found[operation, each.domain]
                if each.bad:
                    found[operation, each.domain] = 0, setbacks + 1
                elif each.good:
                    found[operation, each.domain] = approvals + 1, setbacks
    return dict(found)


def simple(operation: str, record: Record) -> bool:
    """Tell whether an operation is one that could ever run without asking."""
    known = operations.find(operation)
    grave = known is None or known.destructive or known.redeclares or not known.reversible
    return not grave and record.risk == "low" and record.reversible


def sweep(now: datetime) -> int:
    """End what was earned under another declaration, and draft what has been earned."""
    with transaction.atomic():
        ended = autonomy.finish(autonomy.redeclared(), autonomy.REDECLARED, SYSTEM, now)
    made = 0
    for row in Resource.objects.filter(kind="Controller", deleted_at=None).order_by("pk"):
        for each in of(row, now) if "autonomy" in row.spec else ():
            if each.reached and each.held is None and each.proposal is None:
                made += promote(row, each, now)
    return ended + made


def promote(row: Resource, earned: Standing, now: datetime) -> bool:
    """Draft one promotion as a proposal of the controller; two people decide, never it."""
    if refused_lately(row, earned):
        return False
    where = earned.domain or "no domain"
    why = (
        f"{earned.approvals} proposals of {earned.operation} in {where} were approved in a row:"
        f" let it run without asking while that lasts."
    )
    about = {"operation": earned.operation, "domain": earned.domain}
    actor = Actor("controller", row.name)
    action = {"operation": GRANT, "parameters": about | {"approvals": earned.approvals}}
    # Who stands behind the controller has a part in it, and does not count.
    wish = draft(row, Author(actor, row), [action], why, now)
    try:
        with transaction.atomic():
            file(wish, actor, now)
    except IntegrityError:
        # Another worker was faster.
        return False
    return True


def refused_lately(row: Resource, earned: Standing) -> bool:
    """Tell whether people said no to this promotion under the declaration in force."""
    rows = Proposal.objects.filter(resource=row, proposer=str(row)).exclude(state__in=OPEN)
    for each in rows.order_by("-pk")[:MOST]:
        given = each.actions[0]["parameters"]
        about = (given.get("operation"), given.get("domain"))
        if about == earned[:2] and each.basis.get("generation") == row.generation:
            return each.answer in BAD
    return False


def end(row: Resource, key: int, *, person: User, now: datetime) -> None:
    """Take autonomy back: who may stop a controller may do that, and says no more."""
    roles.check_stop(person, row.domain, now)
    with transaction.atomic():
        mine = Autonomy.objects.filter(pk=key, controller=row, ended_at=None)
        if not autonomy.finish(mine, "A person took it back.", people.actor_for(person), now):
            raise missing("It does not stand any more.")
