"""Yes and no: votes, quorum, and the glass that is broken in an emergency."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions import escalation, gate_facts, holds, proposals
from controllers.decisions.answers.answer import GivenAnswer, given, record, settle, worded
from controllers.decisions.answers.decider_check import check_decider
from controllers.decisions.proposals import SeenRevision
from controllers.engine.proposal_lifecycle import LAPSES, REVIEW_WITHIN
from controllers.models import Decision, Proposal
from controllers.notifications import delivery
from resources.documents.problems import held, invalid, refused

LEAST_IN_EMERGENCY = 10
AT_ONCE = timedelta(0)


def approve(
    key: int,
    *,
    person: User,
    seen: SeenRevision,
    now: datetime,
    reason: str = "",
    after: timedelta = AT_ONCE,
) -> Proposal:
    """Vote for a proposal; the vote that completes the number needed approves it.

    It is marked, not performed: the runner performs it, not before `after` has passed.
    """
    said = GivenAnswer("approve", person, seen, now, worded(reason, least=0))
    return settle(key, said, partial(vote, after=after))


def vote(proposal: Proposal, said: GivenAnswer, *, after: timedelta) -> Proposal:
    """Count a vote, and approve when enough different people have said yes."""
    needs = roles.quorum_of(proposal)
    authority = roles.authority(said.person, proposal, said.now, needs)
    if not said.reason and not routine(proposal):
        raise invalid("Say why: this is no routine approval.")
    check_groups(proposal, needs)
    again = given(proposal, said)
    if not again:
        record(proposal, said, authority)
    heard = needs.tally(roles.still_valid(votes(proposal), proposal, said.now))
    payload = said.payload(authority, votes=heard.given, people=heard.needed, **shares(heard))
    if not heard.enough:
        # Said twice, it is told once.
        return proposal if again else count(proposal, said, payload)
    return proposals.move(
        proposal,
        "approve",
        actor=said.actor,
        now=said.now,
        payload=payload,
        # Whoever forced an earlier revision has no part in this: others have looked at it now.
        review_by=None,
        **said.decided(),
        **begin(proposal, said.now + after),
    )


def count(proposal: Proposal, said: GivenAnswer, payload: dict[str, Any]) -> Proposal:
    """Keep a vote that others have to join."""
    return proposals.move(proposal, "vote", actor=said.actor, now=said.now, payload=payload)


def check_groups(proposal: Proposal, needs: roles.Quorum) -> None:
    """Raise when a policy asks for a group that is not there: nobody could complete it."""
    for each in needs.tally([]).shares:
        if not each.known:
            raise refused(each.sentence)


def shares(heard: roles.Tally) -> dict[str, Any]:
    """Return what the ledger keeps of the groups that policies ask for."""
    found = [{"group": e.group, "people": e.needed, "votes": e.given} for e in heard.shares]
    return {"groups": found} if found else {}


def routine(proposal: Proposal) -> bool:
    """Tell whether a yes needs no words: nothing grave, and it can be taken back."""
    return proposal.risk != "high" and proposal.reversible


def votes(proposal: Proposal) -> list[Decision]:
    """Return who has approved the present revision."""
    return list(
        Decision.objects.filter(
            proposal=proposal, revision=proposal.revision, answer="approve", counts=True
        ).select_related("person", "behalf")
    )


def begin(proposal: Proposal, at: datetime) -> dict[str, datetime | None]:
    """Return the clocks of something approved: from when, and until when, it may begin."""
    ends = at + LAPSES[proposal.risk]
    return {"run_at": at, "execute_before": ends, "quiet_until": None, "quiet_above": None}


def reject(
    key: int, *, person: User, seen: SeenRevision, now: datetime, reason: str = ""
) -> Proposal:
    """Say no: one is enough, as long as nobody has decided.

    The same plan is not proposed again until the resource is declared anew or drifts worse.
    """
    return settle(key, GivenAnswer("reject", person, seen, now, worded(reason)), refuse)


def refuse(proposal: Proposal, said: GivenAnswer) -> Proposal:
    """Close a proposal against the wish of whoever proposed it."""
    authority = check_decider(said.person, proposal, said.now)
    record(proposal, said, authority)
    return proposals.move(
        proposal,
        "reject",
        actor=said.actor,
        now=said.now,
        payload=said.payload(authority),
        quiet_until=None,
        quiet_above=proposal.score,
        **said.decided(),
    )


def break_glass(
    key: int, *, person: User, seen: SeenRevision, now: datetime, reason: str = ""
) -> Proposal:
    """Approve alone, in an emergency: loudly, with a reason, and reviewed by somebody else.

    Neither the number of people nor one's own interest stands in the way; a hold does.
    """
    said = GivenAnswer("break_glass", person, seen, now, worded(reason, LEAST_IN_EMERGENCY))
    return settle(key, said, force)


def force(proposal: Proposal, said: GivenAnswer) -> Proposal:
    """Approve without the others, unless a person holds it."""
    roles.check_glass(said.person, proposal.resource.domain, said.now)
    ruling = gate_facts.examine(proposal, said.now)
    if ruling.hold is not None:
        raise held(ruling.reason, holds.epoch())
    record(proposal, said)
    raise_alarm(proposal, said)
    review_by = said.now + REVIEW_WITHIN
    return proposals.move(
        proposal,
        "break_glass",
        actor=said.actor,
        now=said.now,
        payload=said.payload(reviewBy=review_by.isoformat()),
        review_by=review_by,
        # Whatever they answer later, they do not look their own emergency over.
        interested=sorted({*proposal.interested, *roles.interested_in(said.actor, None)}),
        **said.decided(),
        **begin(proposal, said.now),
    )


def raise_alarm(proposal: Proposal, said: GivenAnswer) -> None:
    """Tell everybody whom silence would reach in the end, at once."""
    what = f"{said.actor} approved proposal/{proposal.pk} about {proposal.resource} alone"
    for path in escalation.Charter.read().paths_of(proposal.resource.domain):
        delivery.tell(
            path.channel,
            title=what,
            body=f"{what}, in an emergency: {said.reason} Somebody else has to review it.",
            severity="critical",
            key=f"proposal/{proposal.uid}/break-glass/{proposal.revision}/{path.channel}",
            now=said.now,
            proposal=proposal,
        )
