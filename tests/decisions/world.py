"""A small organisation for the machine, and what anybody who watched it would know about it.

`Truth` is written down by the machine from what it asked for and was granted. It shares nothing
with the product: no rule of it is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from controllers.decisions import answers, creation
from controllers.decisions.proposals import SeenRevision
from controllers.models import Endpoint, Judgement, Runtime
from resources.documents.actor import Actor
from resources.tables.models import AgentToken, Resource
from resources.usecases import tokens
from tests.conftest import Clock, given
from tests.decisions.carrying import consume, keeper, workflow
from tests.decisions.making import agent, person
from tests.resources.making import apply, made

# Far ahead of every real clock, so that only the machine's own time counts.
BEGINNING = datetime(2100, 1, 4, 9, tzinfo=UTC)
RISKS = ("low", "medium", "high")
# Who has which role where, and up to which risk.
PEOPLE: dict[str, tuple[str, str, str]] = {
    "maya": ("approver", "", "high"),
    "tomas": ("approver", "", "high"),
    "nadia": ("approver", "growth", "medium"),
    "ines": ("operator", "", "high"),
    "olga": ("administrator", "", "high"),
    "vera": ("viewer", "", "high"),
}
# Who lets others decide does so too: nobody gives what they do not hold.
ALSO = {("olga", "approver", ""): "high"}
# The agents that propose: how far each may go alone, and who made its token.
PROPOSERS = {"robin": ("autonomous", "tomas"), "wren": ("supervised", "maya")}
TARGETS = {"scribe": "growth", "otter": "ops"}
# What two people have to approve, because it changes what is declared or cannot be taken back.
GRAVE = ("modify-spec", "take-over", "release", "abort")


@dataclass(frozen=True)
class World:
    """The rows that every example begins with."""

    people: dict[str, User]
    tokens: dict[str, AgentToken]
    targets: dict[str, Resource]
    keeper: Resource


def made_anew() -> World:
    """Declare the organisation."""
    clock = Clock()
    clock.now = BEGINNING
    assert apply(clock.now, made("Domain", "growth"), made("Domain", "ops")).written
    people = {name: person(clock, name, *right) for name, right in PEOPLE.items()}
    for name, role, domain in ALSO:
        given(people[name], role, domain=domain)
    owner = keeper(clock)
    targets = {name: agent(clock, name, domain) for name, domain in TARGETS.items()}
    for name in TARGETS:
        consume(clock, name, 2_000_000)
    targets["release"] = workflow(clock)
    for name in TARGETS:
        targets[name].refresh_from_db()
        judge(clock, owner, targets[name])
    Runtime.objects.create(controller=owner, started_at=clock.now, resync_at=clock.now)
    Endpoint.objects.create(
        name="rig",
        url="https://rig.example/hook",
        secret="",
        operations=["restart"],
        domain="ops",
        changed_at=clock.now,
        changed_by="system/ioa",
    )
    issued = {name: issue(clock, name, *about) for name, about in PROPOSERS.items()}
    begin(clock, people, targets)
    return World(people, issued, targets, owner)


def begin(clock: Clock, people: dict[str, User], targets: dict[str, Resource]) -> None:
    """Let some things be proposed, and some of them be approved, before anything happens."""
    patch = {"patch": {"purpose": "Writes less."}}
    wishes: list[tuple[str, str, dict[str, Any], str]] = [
        ("otter", "throttle", {"factor": 0.5}, ""),
        ("otter", "restart", {}, "maya"),
        ("scribe", "restart", {}, ""),
        ("release", "start", {}, "tomas"),
        ("scribe", "modify-spec", patch, "maya"),
    ]
    for name, operation, parameters, approver in wishes:
        wish = {"operation": operation, "parameters": parameters}
        filing = creation.Filing(targets[name].pk, [wish], "It is time.")
        filed = creation.propose(filing, by=people["ines"], now=clock.now).proposal
        if approver:
            person, seen = people[approver], SeenRevision(filed.revision, filed.action_digest)
            answers.approve(filed.pk, person=person, seen=seen, now=clock.now, reason="Yes.")


def judge(clock: Clock, owner: Resource, target: Resource) -> None:
    """Let a controller have looked at a target before."""
    Judgement.objects.create(
        controller=owner,
        resource=target,
        generation=target.generation,
        version=target.resource_version,
        drifted=True,
        status="False",
        reason="Drifted",
        urgency="low",
        since=clock.now,
        evaluated_at=clock.now,
    )


def issue(clock: Clock, name: str, autonomy: str, maker: str) -> AgentToken:
    """Declare an agent that proposes, and let somebody make its token."""
    agent(clock, name, "growth", type=autonomy)
    issued = tokens.issue(
        name,
        scopes=["resources:read"],
        lifetime=timedelta(days=90),
        actor=Actor("person", maker),
        now=clock.now,
    )
    return AgentToken.objects.select_related("agent").get(pk=issued.token.pk)


class Said(NamedTuple):
    """A hold that somebody placed."""

    kind: str
    scope: str
    domain: str = ""
    controller: int | None = None
    resource: int | None = None
    path: str = ""
    starts_at: datetime | None = None
    ends_at: datetime | None = None


class Deputy(NamedTuple):
    """Somebody who decides for somebody else."""

    person: str
    deputy: str
    starts_at: datetime
    ends_at: datetime
    ended_at: datetime | None = None

    def stood(self, at: datetime) -> bool:
        """Tell whether it held at a time."""
        ended = self.ended_at is not None and at >= self.ended_at
        return self.starts_at <= at < self.ends_at and not ended


class Vote(NamedTuple):
    """A yes to a proposal: whose, for whom, and when."""

    person: str
    behalf: str | None
    at: datetime


class About(NamedTuple):
    """What decides who may decide: where it is, how much it risks, and who has a part in it."""

    domain: str
    risk: str
    interested: frozenset[str]


@dataclass
class Truth:
    """Who holds which right, which holds stand, and who had a part in what."""

    now: datetime = BEGINNING
    rights: dict[tuple[str, str, str], str] = field(
        default_factory=lambda: (
            {(name, role, domain): risk for name, (role, domain, risk) in PEOPLE.items()} | ALSO
        )
    )
    inactive: set[str] = field(default_factory=set)
    deputies: dict[int, Deputy] = field(default_factory=dict)
    holds: dict[int, Said] = field(default_factory=dict)
    mode: str = "warn"
    approval: str = "required"
    # Who edited or forced each proposal.
    parts: dict[int, set[str]] = field(default_factory=dict)
    # Who wrote the spec of each resource that is in force.
    authors: dict[int, str] = field(default_factory=dict)

    def take_part(self, proposal: int, name: str) -> None:
        """Note that somebody has a part in a proposal."""
        self.parts.setdefault(proposal, set()).add(name)

    def holds_role(self, name: str, roles: Iterable[str], domain: str) -> bool:
        """Tell whether somebody holds one of some roles where it counts."""
        found = ((name, role, place) in self.rights for role in roles for place in {"", domain})
        return name not in self.inactive and any(found)

    def decides(self, name: str, about: About) -> bool:
        """Tell whether somebody may decide in their own right, whatever part they have in it."""
        risks = [self.rights.get((name, "approver", place)) for place in {"", about.domain}]
        high = max((RISKS.index(risk) for risk in risks if risk), default=-1)
        return name not in self.inactive and high >= RISKS.index(about.risk)

    def free(self, name: str, about: About) -> bool:
        """Tell whether somebody may decide, and has no part in it."""
        return self.decides(name, about) and name not in about.interested

    def speaks(self, name: str, about: About) -> bool:
        """Tell whether somebody may answer: in their own right or as a deputy."""
        if self.decides(name, about):
            return True
        if name in self.inactive or name in about.interested:
            return False
        standing = (each for each in self.deputies.values() if each.stood(self.now))
        return any(self.free(each.person, about) for each in standing if each.deputy == name)

    def counts(self, vote: Vote, about: About) -> bool:
        """Tell whether a yes is worth anything now."""
        if vote.behalf is None:
            return self.free(vote.person, about)
        if vote.person in self.inactive or vote.person in about.interested:
            return False
        pair = (vote.behalf, vote.person)
        named = [each for each in self.deputies.values() if each[:2] == pair]
        return self.free(vote.behalf, about) and any(each.stood(vote.at) for each in named)

    def voices(self, votes: Iterable[Vote], about: About) -> int:
        """Count the most votes of which no two stand for the same person."""
        good = [{vote.person, vote.behalf} - {None} for vote in votes if self.counts(vote, about)]
        for size in range(len(good), 0, -1):
            for some in combinations(good, size):
                if len(set().union(*some)) == sum(map(len, some)):
                    return size
        return 0

    def standing(self) -> list[Said]:
        """Return the holds that stand now."""
        return [
            each
            for each in self.holds.values()
            if (each.starts_at is None or each.starts_at <= self.now)
            and (each.ends_at is None or self.now < each.ends_at)
        ]

    def held(self, resource: Any, controller: int | None, paths: Iterable[str]) -> list[Said]:
        """Return the holds that forbid a change of some fields of a resource."""
        found = []
        for each in self.standing():
            reached = {
                "organisation": True,
                "domain": each.domain == resource["domain"],
                "controller": each.controller == controller,
                "resource": each.resource == resource["id"],
                "field": each.resource == resource["id"] and meets(each.path, paths),
            }
            if reached[each.scope]:
                found.append(each)
        return found


def meets(path: str, paths: Iterable[str]) -> bool:
    """Tell whether one of some fields is a field, lies in it, or holds it."""
    parts = path.split(".")
    others = [each.split(".") for each in paths]
    return any(all(a == b for a, b in zip(parts, each, strict=False)) for each in others)
