"""Not now, not so, or not at all: answers that let nothing happen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth.models import User

from controllers.decisions import proposals
from controllers.decisions.answers.answer import GivenAnswer, later, record, settle, worded
from controllers.decisions.answers.decider_check import check_decider, check_withdrawer
from controllers.decisions.proposals import SeenRevision
from controllers.engine.proposal_lifecycle import LONGEST_WAIT
from controllers.models import Proposal
from resources.documents.problems import invalid

# Nobody lives with something for ever: after this it is asked again.
LONGEST_ACCEPTANCE = timedelta(days=366)
# A place in the plan that its proposer can change.
FIELD = re.compile(r"/actions/([0-9]{1,2})(?:/operation|/parameters/[^/\s]{1,100})")


@dataclass(frozen=True)
class Rest:
    """How long a proposal is out of sight: until a time, until it is worse, or the first."""

    until: datetime | None = None
    worse: bool = False


def accept(
    key: int, *, person: User, seen: SeenRevision, now: datetime, until: datetime, reason: str = ""
) -> Proposal:
    """Accept things as they are until a date: the same plan is not proposed again before."""
    if later(until, now) > now + LONGEST_ACCEPTANCE:
        raise invalid(f"It can be accepted for at most {LONGEST_ACCEPTANCE.days} days.")
    said = GivenAnswer("accept", person, seen, now, worded(reason))
    return settle(key, said, partial(tolerate, until=until))


def tolerate(proposal: Proposal, said: GivenAnswer, *, until: datetime) -> Proposal:
    """Close a proposal because people live with what it was about."""
    authority = check_decider(said.person, proposal, said.now)
    record(proposal, said, authority)
    return proposals.move(
        proposal,
        "accept",
        actor=said.actor,
        now=said.now,
        payload=said.payload(authority, until=until.isoformat()),
        quiet_until=until,
        quiet_above=None,
        **said.decided(),
    )


def snooze(
    key: int, *, person: User, seen: SeenRevision, now: datetime, rest: Rest, reason: str = ""
) -> Proposal:
    """Put a proposal out of sight for a while; the time it may wait moves with it."""
    until = rest.until or now + LONGEST_WAIT
    if rest.until is None and not rest.worse:
        raise invalid("Say until when, or that it should come back when it is worse.")
    if later(until, now) > now + LONGEST_WAIT:
        raise invalid(f"It can be put off for at most {LONGEST_WAIT.days} days.")
    said = GivenAnswer("snooze", person, seen, now, worded(reason))
    return settle(key, said, partial(rest_until, until=until, worse=rest.worse))


def rest_until(proposal: Proposal, said: GivenAnswer, *, until: datetime, worse: bool) -> Proposal:
    """Let a proposal wait out of sight, with as much time left afterwards as it has now."""
    authority = check_decider(said.person, proposal, said.now)
    above = proposal.score if worse else None
    if worse and above is None:
        raise invalid("Nothing was measured here that could get worse.")
    if (proposal.quiet_until, proposal.quiet_above) == (until, above):
        return proposal
    record(proposal, said, authority)
    # What it has left is counted from the end of the rest that it may already have.
    left = proposal.expires_at - max(said.now, proposal.quiet_until or said.now)
    expires_at = max(proposal.expires_at, until + left)
    payload = said.payload(
        authority, until=until.isoformat(), above=above, expiresAt=expires_at.isoformat()
    )
    return proposals.move(
        proposal,
        "snooze",
        actor=said.actor,
        now=said.now,
        payload=payload,
        quiet_until=until,
        quiet_above=above,
        expires_at=expires_at,
    )


def request_changes(
    key: int,
    *,
    person: User,
    seen: SeenRevision,
    now: datetime,
    reason: str = "",
    fields: Sequence[str] = (),
) -> Proposal:
    """Send a proposal back to whoever made it; reason and fields say what should be different."""
    said = GivenAnswer("request_changes", person, seen, now, worded(reason))
    return settle(key, said, partial(send_back, fields=fields))


def send_back(proposal: Proposal, said: GivenAnswer, *, fields: Sequence[str]) -> Proposal:
    """Wait for a better proposal."""
    authority = check_decider(said.person, proposal, said.now)
    wanted = list(dict.fromkeys(fields))
    check_fields(proposal, wanted)
    record(proposal, said, authority)
    return proposals.move(
        proposal,
        "request_changes",
        actor=said.actor,
        now=said.now,
        payload=said.payload(authority, fields=wanted),
        feedback={"fields": wanted},
        **said.decided(),
    )


def check_fields(proposal: Proposal, fields: Sequence[str]) -> None:
    """Let people name only what whoever proposed it can change: why, an operation, a parameter."""
    for each in fields:
        place = FIELD.fullmatch(each)
        if each != "/why" and (place is None or int(place[1]) >= len(proposal.actions)):
            known = "/why, /actions/0/operation or /actions/0/parameters/factor"
            raise invalid(f"A field is a place in the plan such as {known}.")


def extend(
    key: int, *, person: User, seen: SeenRevision, now: datetime, until: datetime, reason: str = ""
) -> Proposal:
    """Give people more time to decide."""
    later(until, now)
    said = GivenAnswer("extend", person, seen, now, worded(reason))
    return settle(key, said, partial(wait_until, until=until))


def wait_until(proposal: Proposal, said: GivenAnswer, *, until: datetime) -> Proposal:
    """Move the end of the waiting, never to an earlier time; votes stay as they are."""
    authority = check_decider(said.person, proposal, said.now)
    if until == proposal.expires_at:
        return proposal
    if until < proposal.expires_at:
        raise invalid(f"It waits until {proposal.expires_at:%Y-%m-%d %H:%M} UTC anyway.")
    latest = proposal.created_at + LONGEST_WAIT
    if until > latest:
        raise invalid(f"It can wait until {latest:%Y-%m-%d %H:%M} UTC at most.")
    return proposals.move(
        proposal,
        "extend",
        actor=said.actor,
        now=said.now,
        payload=said.payload(authority, expiresAt=until.isoformat()),
        expires_at=until,
    )


def withdraw(
    key: int, *, person: User, seen: SeenRevision, now: datetime, reason: str = ""
) -> Proposal:
    """Take a proposal back, also one that is approved and has not begun."""
    return settle(key, GivenAnswer("withdraw", person, seen, now, worded(reason)), take_back)


def take_back(proposal: Proposal, said: GivenAnswer) -> Proposal:
    """Close a proposal for whoever answers for it."""
    check_withdrawer(said.person, proposal, said.now)
    return proposals.move(
        proposal,
        "withdraw",
        actor=said.actor,
        now=said.now,
        payload=said.payload(),
        quiet_until=None,
        **said.decided(),
    )
