"""The canary: a controller and one memory, made for a drill, and gone after it.

It is the only thing a drill ever touches. What it would do goes the way of every effect: an
approved proposal, the gate, the locks, the one critical section.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from controllers import execution
from controllers.common import bulk_insert
from controllers.decisions import holds, proposals
from controllers.decisions.creation import close_gone
from controllers.decisions.creation.draft import describe, planned
from controllers.engine.proposal_lifecycle import LAPSES, WAITS
from controllers.models import Decision, Drill, Proposal
from controllers.workqueue.target_store import EVERYWHERE
from resources.documents.actor import SYSTEM
from resources.documents.kind import V02, Document
from resources.documents.problems import NOT_FOUND, Problem
from resources.tables.models import Resource
from resources.usecases import deletion, specs

POLICY, BORN = "policy/drill", "created"
# Nobody but the drill itself carries its proposals out.
ASIDE = timedelta(days=1)


def name_of(drill: Drill) -> str:
    """Return what controller and memory of a drill are called."""
    return f"override-drill-{drill.pk}"


def make(drill: Drill, now: datetime) -> None:
    """Declare the canary, in the domain that the drill is about."""
    wishes = [
        specs.DesiredDocument(each, expected=0, message=f"For {drill}.")
        for each in documents(drill)
    ]
    outcome = specs.apply(wishes, actor=SYSTEM, now=now)
    rows = {each.kind: each.resource for each in outcome.results}
    if not outcome.written:
        told = [each.message for result in outcome.results for each in result.problems]
        raise RuntimeError(f"The canary could not be declared: {'; '.join(told)[:300]}")
    drill.controller, drill.target = rows["Controller"], rows["Memory"]
    drill.save(update_fields=["controller", "target"])


def documents(drill: Drill) -> list[Document]:
    """Write the two resources of a canary."""
    name, domain = name_of(drill), drill.governance.domain
    label = {holds.LABEL: str(drill.pk)}
    memory: Document = {
        "scope": "domain",
        "entryType": "context",
        "content": "A canary: a drill archives it and brings it back.",
    }
    if domain and domain != EVERYWHERE:
        memory["sourceDomain"] = domain
    controller = {
        "targetKind": "Memory",
        "targetSelector": {"matchLabels": label},
        "reconcileInterval": "1d",
        # Nobody runs its cycles: the drill itself does what it would do.
        "runner": "external",
        "enforcementMode": "enforce",
        "approval": "auto",
    }
    specs_of = {"Controller": controller, "Memory": memory}
    return [
        {
            "apiVersion": V02,
            "kind": kind,
            "metadata": {"name": name, "labels": label},
            "spec": spec,
            **({"status": {"state": "active"}} if kind == "Memory" else {}),
        }
        for kind, spec in specs_of.items()
    ]


def propose(drill: Drill, operation: str, to: str, now: datetime) -> Proposal:
    """Propose one change of the canary, approved by the policy as in enforce mode."""
    target = Resource.objects.get(pk=drill.target_id or 0)
    why = f"{drill} of {drill.governance}: does a pause stop this?"
    action = planned(target, 1, {"operation": operation, "parameters": {"to": to}}, why)
    row = Proposal(
        resource=target,
        controller=drill.controller,
        proposer=str(SYSTEM),
        explanation=why,
        policy={"autonomy": "", "approval": "auto", "lowers": False, "drill": drill.pk},
        mode="enforce",
        lane="run",
        state="approved",
        people=0,
        created_at=now,
        changed_at=now,
        confirmed_at=now,
        correlation_id=str(drill.uid),
    )
    describe(row, [action])
    row.expires_at, row.execute_before = now + WAITS[row.risk], now + LAPSES[row.risk]
    row.decided_at, row.decided_by, row.answer = now, POLICY, "approve"
    row.run_at = now + ASIDE
    with transaction.atomic():
        bulk_insert.create([row])
        decision = {"actor": POLICY, "answer": "approve", "shown": row.action_digest, "at": now}
        bulk_insert.create([Decision(proposal=row, revision=row.revision, **decision)])
        told = {"lane": row.lane, "actions": row.actions, "drill": drill.pk}
        proposals.tell(row, BORN, actor=SYSTEM, now=now, payload=told)
    return row


def attempt(proposal: Proposal, now: datetime) -> Proposal:
    """Try to carry a proposal out, as a worker does; return it as it stands then."""
    execution.execute(proposal.pk, f"drill/{proposal.policy['drill']}", now)
    Proposal.objects.filter(pk=proposal.pk, state="approved").update(run_at=now + ASIDE)
    return Proposal.objects.get(pk=proposal.pk)


def state_of(drill: Drill) -> str:
    """Return the state of the canary's memory, as the database has it."""
    status: Any = Resource.objects.values_list("status", flat=True).get(pk=drill.target_id or 0)
    return str(status.get("state", ""))


def remove(drill: Drill, now: datetime) -> None:
    """Close what the canary wanted and delete it; what is not there is gone already."""
    name = name_of(drill)
    rows = Resource.objects.filter(name=name, kind__in=("Controller", "Memory"), deleted_at=None)
    for row in rows.order_by("kind"):
        wanted = Proposal.objects.filter(resource=row)
        close_gone(wanted, "The drill is over.", now)
        for each in wanted.filter(state="verifying"):
            confirm(each, now)
        try:
            deletion.delete(row.kind, row.name, actor=SYSTEM, now=now)
        except Problem as problem:
            if problem.code != NOT_FOUND:
                raise


def confirm(done: Proposal, now: datetime) -> None:
    """Say of what was done to the canary that it was seen: no later cycle looks at it."""
    with transaction.atomic(), suppress(Problem):
        taken = proposals.take(done.pk, "verify", now)
        changes = {"outcome": "effective", "undo_until": None, "verify_by": None}
        proposals.move(taken, "verify", actor=SYSTEM, now=now, payload={}, **changes)
