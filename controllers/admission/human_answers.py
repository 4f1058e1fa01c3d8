"""Questions that a person answers: filed as proposals, answered by what became of them."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from controllers.admission import admission_ledger
from controllers.admission.requests import ResolvedRequest
from controllers.common.quotation import WORDED_HERE
from controllers.decisions.creation.draft import Author, draft
from controllers.decisions.creation.submission import check_room, file
from controllers.engine.admission import Finding, Verdict
from controllers.engine.allowances import MILLIONTHS
from controllers.engine.proposal_lifecycle import OPEN
from controllers.models import Admission, Proposal
from controllers.operations.catalogue.permission import PERMIT
from resources.documents.actor import Actor
from resources.documents.problems import Problem

State = Admission.State
# The permission was given: the executor has asked for holds and votes once more.
GIVEN = ("verifying", "succeeded")
LONGEST_WHY = 1_500
UNPASSED = (State.WAITING, State.DENIED)


def file_proposal(wanted: ResolvedRequest, verdict: Verdict, now: datetime) -> Proposal:
    """Put a question before people; what they said no to is not asked again."""
    agent = wanted.agent
    actor = Actor("agent", agent.name)
    spent = wanted.spent
    parameters = {
        "by": agent.name,
        "operation": wanted.request.operation,
        "on": wanted.on,
        "tokens": spent.tokens,
        "cost": spent.cost / MILLIONTHS,
        "currency": spent.currency,
        "request": wanted.digest,
        "time": passed(wanted) + 1,
    }
    said = wanted.request.why.strip()[:LONGEST_WHY]
    actions = [{"operation": PERMIT, "parameters": parameters}]
    why = said or verdict.reasons[0].reason
    drafted = draft(wanted.target, Author(actor, agent), actions, why, now)
    drafted.policy |= {} if said else {WORDED_HERE: True}
    check_room(drafted, now)
    return file(drafted, actor, now)


def passed(wanted: ResolvedRequest) -> int:
    """Return how often people let the same thing happen: each time is a proposal of its own."""
    rows = Admission.objects.filter(agent=wanted.agent, digest=wanted.digest)
    return rows.exclude(proposal=None).exclude(state__in=UNPASSED).count()


def ask_people(
    row: Admission, wanted: ResolvedRequest, verdict: Verdict, now: datetime
) -> Verdict:
    """File the proposal of a question, or deny it where it cannot be asked."""
    try:
        row.proposal = file_proposal(wanted, verdict, now)
    except Problem as problem:
        why = Finding("CannotBeAsked", problem.message)
        return verdict._replace(decision="denied", reasons=(why,))
    return verdict


def approved(row: Admission) -> bool:
    """Tell whether people let happen what was asked, and that was carried out."""
    proposal = row.proposal
    return proposal is not None and proposal.state in GIVEN and not changed(proposal)


def changed(proposal: Proposal) -> bool:
    """Tell whether people let something else happen than what was asked."""
    return proposal.action_digest != proposal.planned_digest


def refused(row: Admission, now: datetime) -> Admission | None:
    """Deny a question that people said no to, or did not answer in time; nothing if it waits."""
    why = refusal(row.proposal)
    if why is None:
        return None
    reasons = [why]
    waits = Admission.objects.filter(pk=row.pk, state=State.WAITING)
    with transaction.atomic():
        if waits.update(state=State.DENIED, reasons=reasons, changed_at=now, tell_at=now):
            payload = admission_ledger.about(row, admission_ledger.on_of(row)) | why
            entry = admission_ledger.entry(row.agent, "admission.denied", payload, "warning")
            admission_ledger.append([entry], row.agent, now)
    row.state, row.reasons = State.DENIED, reasons
    return row


def refusal(proposal: Proposal | None) -> dict[str, str] | None:
    """Say why people's answer is no, or nothing while there is none."""
    if proposal is None:
        return {"code": "PeopleSaidNo", "reason": "The proposal is gone."}
    if proposal.state in GIVEN:
        reason = "People would let something else happen: ask for that."
        return {"code": "PeopleChangedIt", "reason": reason}
    if proposal.state in OPEN:
        return None
    state = proposal.state.replace("_", " ")
    said = f" {proposal.reason}" if proposal.reason else ""
    return {"code": "PeopleSaidNo", "reason": f"The proposal is {state}.{said}"[:1_000]}
