"""What a proposal needs before it is approved: so many people, and so many of a group.

The gate says how many have to approve. Policies that Governance declares may ask for more, never
for fewer: all that match count, and the strictest wins. A group that is not there lets nobody
approve.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from controllers.access.governance_lookup import Covering
from controllers.models import ApprovalGroup as Group
from controllers.models import Decision, Membership, Proposal


class Policy(NamedTuple):
    """One rule that a Governance declares."""

    governance: str
    name: str
    people: int
    group: str
    match: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        """What it asks, and where it is declared."""
        who = counted(self.people) + (f" of {self.group}" if self.group else "")
        return f"Policy {self.name} of governance/{self.governance} asks for {who}."

    def matches(self, proposal: Proposal) -> bool:
        """Tell whether it is about a proposal; what it does not name is not asked."""
        found = {
            "operations": {str(each.get("operation", "")) for each in proposal.actions},
            "kinds": {proposal.resource.kind},
            "domains": {proposal.resource.domain},
            "risks": {proposal.risk},
        }
        asked = {name: set(listed) for name, listed in self.match.items() if name in found}
        back = self.match.get("reversible", proposal.reversible)
        return back == proposal.reversible and all(
            found[name] & listed for name, listed in asked.items()
        )


class GroupQuorum(NamedTuple):
    """How many of a group have to approve, and how many did."""

    group: str
    needed: int
    given: int
    # Whether there is such a group.
    known: bool = True

    @property
    def missing(self) -> int:
        """How many more of it have to approve."""
        return max(self.needed - self.given, 0)

    @property
    def sentence(self) -> str:
        """What is asked of the group."""
        if not self.known:
            return f"There is no group {self.group}: nobody can approve this until there is."
        return f"{counted(self.needed)} of {self.group}, {self.given} given"


class Tally(NamedTuple):
    """What a proposal needs, and what it has."""

    needed: int
    given: int
    shares: tuple[GroupQuorum, ...] = ()

    @property
    def missing(self) -> int:
        """How many more have to approve, at least: one person may be in several groups."""
        return max([self.needed - self.given, 0, *(each.missing for each in self.shares)])

    @property
    def lost(self) -> list[str]:
        """The groups that are named and not there."""
        return [each.group for each in self.shares if not each.known]

    @property
    def enough(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing and not self.lost

    @property
    def lacking(self) -> list[str]:
        """The groups of which somebody has yet to approve."""
        return [each.group for each in self.shares if each.missing or not each.known]

    @property
    def sentence(self) -> str:
        """What is missing, for people; nothing when nothing is."""
        for each in self.shares:
            if not each.known:
                return each.sentence
        asked = [f"{each.missing} of {each.group}" for each in self.shares if each.missing]
        if asked:
            return f"It needs {' and '.join(asked)} more."
        return f"It needs {counted(self.missing)} more." if self.missing else ""


@dataclass(frozen=True)
class Quorum:
    """What the gate and the policies ask of one proposal."""

    asked: int
    policies: tuple[Policy, ...] = ()
    # Who is in each group that is named and there.
    members: Mapping[str, frozenset[int]] | None = None

    @property
    def people(self) -> int:
        """How many have to approve: the most that anybody asks for."""
        return max([self.asked, *(each.people for each in self.policies)])

    @property
    def groups(self) -> dict[str, int]:
        """How many of each group have to be among them."""
        found: dict[str, int] = {}
        for each in self.policies:
            if each.group:
                found[each.group] = max(found.get(each.group, 0), each.people)
        return found

    def groups_of(self, person: int) -> list[str]:
        """Return the groups asked for that somebody is in."""
        known = self.members or {}
        return [name for name in self.groups if person in known.get(name, ())]

    def tally(self, votes: Sequence[Decision]) -> Tally:
        """Count votes that are valid: a deputy's is the vote of whom they speak for."""
        voices = {each.behalf_id or each.person_id for each in votes}
        known = self.members or {}
        shares = (
            GroupQuorum(name, needed, len(voices & known.get(name, frozenset())), name in known)
            for name, needed in self.groups.items()
        )
        return Tally(self.people, len(votes), tuple(shares))


def of(proposal: Proposal, *, asked: int = 0) -> Quorum:
    """Return what a proposal needs as things stand; `asked` is what the gate says now."""
    return of_all([proposal], asked=asked)[0]


def of_all(proposals: Sequence[Proposal], *, asked: int = 0) -> list[Quorum]:
    """Return the same about many, for the price of one."""
    charter = Declared.read()
    matching = [charter.matching(each) for each in proposals]
    known = members_of({each.group for found in matching for each in found if each.group})
    return [
        Quorum(max(each.people, asked), found, known)
        for each, found in zip(proposals, matching, strict=True)
    ]


class Declared(Covering):
    """The approval policies of all Governance."""

    def matching(self, proposal: Proposal) -> tuple[Policy, ...]:
        """Return the policies about a proposal; what runs without people asks for none."""
        if proposal.lane == "run":
            return ()
        every = self.policies_of(proposal.resource.domain)
        return tuple(each for each in every if each.matches(proposal))

    def policies_of(self, domain: str) -> Iterator[Policy]:
        """Yield the policies that count in a domain, the nearest first."""
        for name, spec in self.named(domain):
            yield from declared_in(name, spec)

    def naming(self, group: str) -> list[Policy]:
        """Return every policy that names a group, wherever it counts."""
        every = (each for name in self.specs for each in declared_in(name, self.specs[name]))
        return [each for each in every if each.group == group]

    @property
    def named_groups(self) -> dict[str, list[Policy]]:
        """Every group that a policy names, with those policies."""
        found: dict[str, list[Policy]] = defaultdict(list)
        for name, spec in self.specs.items():
            for each in declared_in(name, spec):
                if each.group:
                    found[each.group].append(each)
        return dict(found)


def declared_in(governance: str, spec: Mapping[str, Any]) -> Iterator[Policy]:
    """Read the policies of one Governance."""
    for each in spec.get("approvalPolicies") or ():
        people, group = int(each.get("people") or 1), str(each.get("group") or "")
        yield Policy(governance, str(each["name"]), people, group, each.get("match") or {})


def members_of(names: Iterable[str]) -> dict[str, frozenset[int]]:
    """Return who is in some groups; one that is not there is left out."""
    wanted = set(names)
    if not wanted:
        return {}
    rows = Group.objects.filter(name__in=wanted).values_list("name", "memberships__person")
    found: dict[str, set[int]] = {}
    for name, person in rows:
        found.setdefault(name, set()).update([person] if person is not None else [])
    return {name: frozenset(people) for name, people in found.items()}


def groups_of(person: int) -> list[str]:
    """Return every group somebody is in, by name."""
    mine = Membership.objects.filter(person=person)
    return list(mine.order_by("group__name").values_list("group__name", flat=True))


def counted(people: int) -> str:
    """Write a number of people."""
    return "one person" if people == 1 else f"{people} people"
