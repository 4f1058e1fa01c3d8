"""Who has a part in a proposal: they may not be the ones who approve it."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F

from controllers.models import Decision, Proposal
from resources.documents.actor import Actor
from resources.documents.problems import Problem, denied
from resources.tables.models import AgentToken, Resource, ResourceRevision

# The rules, from the nearest part in it to the farthest.
SENTENCES: Mapping[str, str] = {
    "Proposer": "Whoever proposed it does not approve it.",
    "BehindAgent": "Whoever stands behind the agent that proposed it does not approve it.",
    "Editor": "Whoever edited it does not approve it.",
    "OwnEmergency": "Whoever broke the glass does not look it over. Somebody else has to.",
    "LastEditor": "At high risk, whoever last changed the target's spec does not approve it.",
    "Interested": "Whoever has a part in it does not approve it.",
}
# The codes that say: this person could decide, but has a part in this one.
INTERESTED = frozenset(SENTENCES)
ANSWERS = {"change": "Editor", "break_glass": "OwnEmergency"}


def folded(name: str) -> str:
    """Return a name as it is compared: no spelling of it is another person."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def names_of(person: User) -> set[str]:
    """Return what somebody may be called by."""
    return {folded(person.get_username()), folded(person.get_full_name())} - {""}


def interested_in(proposer: Actor, agent: Resource | None) -> list[str]:
    """Return the people behind a proposer: the person, or those who stand behind the agent."""
    if proposer.kind == "person":
        return [folded(proposer.name)]
    return sorted(behind([agent])[agent.name]) if agent is not None else []


def behind(agents: Iterable[Resource]) -> dict[str, set[str]]:
    """Return who made each agent's tokens, and who owns it."""
    found = {each.name: {folded(owner_of(each.metadata))} for each in agents}
    made = AgentToken.objects.filter(agent__in=agents).values_list("agent__name", "created_by")
    for agent, maker in made:
        found[agent].update(folded(name) for name in people_among([maker]))
    return {agent: names - {""} for agent, names in found.items()}


def owner_of(metadata: Mapping[str, Any]) -> str:
    """Return the name of a resource's owner, in either form."""
    owner = metadata.get("owner")
    name = owner.get("name") if isinstance(owner, dict) else owner
    return name if isinstance(name, str) else ""


def people_among(actors: Iterable[str]) -> Iterator[str]:
    """Yield the names of those actors who are people."""
    for actor in actors:
        kind, _, name = actor.partition("/")
        if kind == "person":
            yield name


def bars(proposals: Sequence[Proposal]) -> dict[int, dict[str, str]]:
    """Return for each proposal who may not approve it, with the code of the nearest rule."""
    backers, editors = behind_proposers(proposals), last_editors(proposals)
    answers = answered(proposals)
    found: dict[int, dict[str, str]] = {}
    for each in proposals:
        barred = found.setdefault(each.pk, {})
        for code, names in (
            ("Proposer", people_among([each.proposer])),
            ("BehindAgent", backers.get(each.proposer, ())),
            *answers[each.pk],
            ("LastEditor", editors.get(each.resource_id, ()) if each.risk == "high" else ()),
            ("Interested", each.interested),
        ):
            for name in names:
                barred.setdefault(folded(name), code)
    return found


def behind_proposers(proposals: Iterable[Proposal]) -> dict[str, set[str]]:
    """Return who stands behind each proposing agent as it is now."""
    parts = (each.proposer.partition("/") for each in proposals)
    names = {name for kind, _, name in parts if kind == "agent"}
    agents = list(Resource.objects.filter(kind="Agent", name__in=names, deleted_at=None))
    return {f"agent/{name}": people for name, people in behind(agents).items()}


def answered(proposals: Iterable[Proposal]) -> dict[int, list[tuple[str, list[str]]]]:
    """Return whoever edited each proposal or broke the glass for it, at any revision."""
    given = Decision.objects.filter(
        proposal__in=[each.pk for each in proposals], answer__in=ANSWERS, person__isnull=False
    )
    found: dict[int, list[tuple[str, list[str]]]] = defaultdict(list)
    for key, answer, name in given.values_list("proposal", "answer", "person__username"):
        found[key].append((ANSWERS[answer], [str(name)]))
    return found


def last_editors(proposals: Iterable[Proposal]) -> dict[int, list[str]]:
    """Return who wrote the spec that is in force, for each resource at high risk."""
    # Later revisions of the same generation changed only metadata or status.
    written = ResourceRevision.objects.filter(
        resource__in={each.resource_id for each in proposals if each.risk == "high"},
        generation=F("resource__generation"),
        spec__isnull=False,
    ).order_by("-resource_version")
    # The earliest comes last, and stays.
    first = dict(written.values_list("resource", "actor"))
    return {key: list(people_among([actor])) for key, actor in first.items()}


def objection(person: User, barred: Mapping[str, str]) -> Problem | None:
    """Return why somebody may not approve although they could, or nothing."""
    code = next((barred[name] for name in sorted(names_of(person)) if name in barred), None)
    return denied(code, SENTENCES[code]) if code else None
