"""How a check is made: a plan for an agent that is well, which nobody who looks would want."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from controllers.access import roles
from controllers.common import bulk_insert
from controllers.common.quotation import WORDED_HERE
from controllers.decisions import proposals
from controllers.decisions.creation.draft import Author, draft
from controllers.engine import digests
from controllers.engine.proposal_lifecycle import OPEN, WAITS
from controllers.models import Check, Cycle, Judgement, Proposal
from controllers.workqueue.target_store import EVERYWHERE
from resources.documents.actor import Actor
from resources.documents.problems import Problem, invalid
from resources.tables.models import Resource

BORN = "created"
# How long it may lie there before it is taken away.
LASTS = timedelta(days=2)
# Whom it may be about: among so many, nobody learns to expect it.
AMONG = 200
OPERATION, FACTOR = "throttle", 0.05


def per_week(governance: Resource) -> int:
    """Return how many checks a Governance declares for a week; none unless it says so."""
    rule = governance.spec.get("humanOverride")
    if not isinstance(rule, dict) or rule.get("enabled") is False:
        return 0
    declared = rule.get("checks")
    count = declared.get("perWeek") if isinstance(declared, dict) else None
    return count if isinstance(count, int) else 0


def make(governance: Resource, now: datetime) -> Check | None:
    """File a check for a Governance; nothing where nobody fits, or nobody would be asked."""
    found = candidate(governance)
    if found is None or not roles.approvers(found.resource.domain, now):
        return None
    salt = secrets.token_hex(32)
    try:
        row = planned(found, salt, now)
        with transaction.atomic():
            bulk_insert.create([row])
            lasting = {"made_at": now, "until": now + LASTS}
            check = Check.objects.create(proposal=row, governance=governance, salt=salt, **lasting)
            said = {"lane": row.lane, "actions": row.actions, "explanation": row.explanation}
            author = Actor("controller", found.controller.name)
            proposals.tell(row, BORN, actor=author, now=now, payload=said)
    except (IntegrityError, Problem):
        # Another process was faster, or the gate lets nobody be asked about this.
        return None
    return check


def candidate(governance: Resource) -> Judgement | None:
    """Choose an agent that is well and that nothing is proposed for."""
    rows = Judgement.objects.filter(
        drifted=False,
        status="True",
        resource__kind="Agent",
        resource__deleted_at=None,
        controller__deleted_at=None,
    ).exclude(resource__proposed__state__in=OPEN)
    if governance.domain and governance.domain != EVERYWHERE:
        rows = rows.filter(resource__domain=governance.domain)
    keys = list(rows.order_by("-evaluated_at").values_list("pk", flat=True)[:AMONG])
    if not keys:
        return None
    return Judgement.objects.select_related("controller", "resource").get(pk=secrets.choice(keys))


def planned(found: Judgement, salt: str, now: datetime) -> Proposal:
    """Write the plan as the controller that looks after the agent would; no cycle sees it."""
    agent, author = found.resource, Author(Actor("controller", found.controller.name))
    why = f"{agent.name} is on target. Give it a twentieth of its tokens."
    action = {"operation": OPERATION, "parameters": {"agent": agent.name, "factor": FACTOR}}
    row = draft(agent, author, [action], why, now)
    if row.state != "pending" or row.held:
        raise invalid("Nobody would be asked about it.")
    row.score, row.evidence, row.urgency = found.score, list(found.evidence), found.urgency
    row.policy |= {WORDED_HERE: True}
    row.expires_at = now + WAITS[row.risk]
    row.correlation_id = story_of(found.controller) or row.correlation_id
    # One of its own: it is grouped with nothing, and no rule is made of it.
    row.cause = secrets.token_hex(32)
    commit(row, salt)
    return row


def commit(row: Proposal, salt: str) -> None:
    """Bind a proposal to what it is, in a digest that every proposal has."""
    basis: dict[str, Any] = {**row.basis, "related": commitment(salt)}
    row.basis, row.basis_digest = basis, digests.of_basis(basis)


def commitment(salt: str) -> str:
    """Return what stands for a salt until it is told."""
    return hashlib.sha256(f"ioa check:{salt}".encode()).hexdigest()


def story_of(controller: Resource) -> str:
    """Return the story of the last cycle of a controller, in which its proposals stand."""
    last = Cycle.objects.filter(controller=controller).order_by("-pk")
    return last.values_list("correlation_id", flat=True).first() or ""
