"""Who may decide about a proposal now, on whose authority, and which votes still count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User

from controllers.access.roles import deputies, interests, quorum, rights
from controllers.access.roles.quorum import Quorum
from controllers.access.roles.rights import DECIDE, GLASS
from controllers.models import Decision, Proposal
from resources.documents.problems import Problem, denied

RISKS = ("low", "medium", "high")


class Authority(NamedTuple):
    """Who decides, and for whom when it is a deputy."""

    person: User
    behalf: User | None


@dataclass(frozen=True)
class Case:
    """A proposal before those who may decide: who is barred, and how far each approver goes."""

    domain: str
    risk: str
    # The code of the rule for each name.
    barred: dict[str, str]
    # The highest risk for each approver's key.
    ceilings: dict[int, int]

    @classmethod
    def read(cls, proposal: Proposal, now: datetime) -> Case:
        """Read everything the rules ask for."""
        return cls.read_all([proposal], now)[0]

    @classmethod
    def read_all(cls, found: Sequence[Proposal], now: datetime) -> list[Case]:
        """Read the same about many proposals, for the price of one."""
        barred = interests.bars(found)
        ceilings = ceilings_in({each.resource.domain for each in found}, now)
        return [
            cls(each.resource.domain, each.risk, barred[each.pk], ceilings[each.resource.domain])
            for each in found
        ]

    def objection(self, person: User) -> Problem | None:
        """Return why somebody may not decide in their own right, or nothing."""
        return interests.objection(person, self.barred) or self.lack(person)

    def lack(self, person: User) -> Problem | None:
        """Return which right somebody lacks, or nothing."""
        where = rights.place(self.domain)
        if person.pk not in self.ceilings:
            return denied("NotApprover", f"Only an approver of {where} decides this.")
        highest = self.ceilings[person.pk]
        if highest < RISKS.index(self.risk):
            said = f"This is of {self.risk} risk; the grant for {where} ends at {RISKS[highest]}."
            return denied("AboveCeiling", said)
        return None


def ceilings_in(domains: Iterable[str], now: datetime) -> dict[str, dict[int, int]]:
    """Return for each domain how far its approvers go; those of the organisation go everywhere."""
    found: dict[str, dict[int, int]] = {domain: {} for domain in domains}
    held = rights.anywhere(DECIDE, now).filter(domain__in={"", *found})
    for person, domain, ceiling in held.values_list("person", "domain", "ceiling"):
        for reached in [domain] if domain else found:
            highest = found[reached].get(person, 0)
            found[reached][person] = max(highest, RISKS.index(ceiling))
    return found


class Decider(NamedTuple):
    """Somebody who may decide now, for whom, and in which of the groups asked for."""

    person: User
    # Nobody when it is their own right.
    behalf: User | None
    groups: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """By what right."""
        right = f"deputy of {self.behalf.get_username()}" if self.behalf else "approver"
        return ", ".join([right, *(f"in {each}" for each in self.groups)])


def authority(
    person: User, proposal: Proposal, now: datetime, needs: Quorum | None = None
) -> Authority:
    """Return by which right somebody decides about a proposal; without one it is denied.

    A deputy may have no part in it, and neither may the one they decide for. Who has a right of
    their own uses that, unless a group is asked for that only the one they decide for is in.
    """
    if not User.objects.filter(pk=person.pk, is_active=True).exists():
        raise denied("Inactive", "This account is not active.")
    case = Case.read(proposal, now)
    refused = interests.objection(person, case.barred)
    if refused is not None:
        raise refused
    refused = case.lack(person)
    if refused is None:
        return Authority(person, member_behind(person, proposal, case, now, needs))
    for delegator in unheard(deputies.delegators(person, now), proposal):
        objection = case.objection(delegator)
        if objection is None:
            return Authority(person, delegator)
        name = delegator.get_username()
        refused = denied(objection.rule, f"You decide for {name} here. {objection}")
    raise refused


def member_behind(
    person: User, proposal: Proposal, case: Case, now: datetime, needs: Quorum | None
) -> User | None:
    """Return the member of a group asked for whom somebody who is in none of them decides for."""
    asked = needs or quorum.of(proposal)
    if not asked.groups or asked.groups_of(person.pk):
        return None
    behind = unheard(deputies.delegators(person, now), proposal)
    able = (each for each in behind if asked.groups_of(each.pk) and case.objection(each) is None)
    return next(able, None)


def unheard(delegators: Iterable[User], proposal: Proposal) -> list[User]:
    """Put those first whose authority nobody has used for this revision."""
    given = Decision.objects.filter(
        proposal=proposal, revision=proposal.revision, answer="approve"
    ).values_list("person", "behalf")
    heard = {key for pair in given for key in pair}
    return sorted(delegators, key=lambda each: (each.pk in heard, each.pk))


def deciders(proposal: Proposal, now: datetime) -> list[User]:
    """Return everybody who may decide about a proposal now, deputies among them."""
    return [each.person for each in entitled(proposal, now, Quorum(0))]


def entitled(proposal: Proposal, now: datetime, needs: Quorum) -> list[Decider]:
    """Return everybody who may decide about a proposal now, each with why."""
    case = Case.read(proposal, now)
    approvers = User.objects.filter(pk__in=case.ceilings)
    able = [each for each in approvers if case.objection(each) is None]
    found = {each: Decider(each, None, tuple(needs.groups_of(each.pk))) for each in able}
    standing = deputies.in_force(now).filter(person__in=able).select_related("person", "deputy")
    for each in standing.order_by("pk"):
        if interests.objection(each.deputy, case.barred) is not None:
            continue
        stands = Decider(each.deputy, each.person, tuple(needs.groups_of(each.person_id)))
        known = found.setdefault(each.deputy, stands)
        # Where only the other is in a group asked for, their word is what counts.
        if stands.groups and not known.groups:
            found[each.deputy] = stands
    return sorted(found.values(), key=lambda each: each.person.get_username())


def still_valid(
    decisions: Iterable[Decision], proposal: Proposal, now: datetime
) -> list[Decision]:
    """Return the approvals that count as things stand, each of another person.

    Somebody and their deputy are one: nobody is counted twice, neither as the one who answered nor
    as the one answered for. What the policy allowed is nobody's vote.
    """
    case = Case.read(proposal, now)
    found: list[Decision] = []
    heard: set[int] = set()
    for each in sorted(decisions, key=lambda each: (each.at, each.pk)):
        involved = {key for key in (each.person_id, each.behalf_id) if key is not None}
        if not heard & involved and counts(each, case, now):
            heard |= involved
            found.append(each)
    return found


def counts(decision: Decision, case: Case, now: datetime) -> bool:
    """Tell whether one approval would still be accepted from the person who gave it."""
    person, behalf = decision.person, decision.behalf
    if person is None or not decision.counts:
        return False
    if decision.answer == "break_glass":
        return rights.holds_role(person, GLASS, case.domain, now)
    if decision.answer != "approve":
        return False
    if behalf is None:
        return case.objection(person) is None
    return (
        User.objects.filter(pk=person.pk, is_active=True).exists()
        and interests.objection(person, case.barred) is None
        and case.objection(behalf) is None
        and deputies.stood(behalf, person, decision.at)
    )
