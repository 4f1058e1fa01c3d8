"""What a few typed letters find: places, resources, proposals, people, stories.

Every question is bounded: names are compared along the index of living names and stop at the first
few, titles only among what was decided or proposed lately.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from controllers.access import roles
from controllers.models import Proposal
from controllers.narrative import proposal_text
from resources.documents import kinds
from resources.tables import visibility
from resources.tables.models import LedgerEvent, Resource

# Enough to see whether more letters are needed.
MOST = 8
LATELY = 300
LONGEST = 100
NUMBER = re.compile(r"(?:p-|#|proposal/)?(\d{1,18})", re.IGNORECASE | re.ASCII)
STORY = re.compile(r"[0-9a-f][0-9a-f-]{5,63}", re.ASCII)


class Hit(NamedTuple):
    """Something that was found, and where it is."""

    title: str
    url: str
    icon: str
    note: str = ""
    # "dialog" when it opens in place.
    act: str = ""
    # Other words people look for it by.
    words: str = ""


class HitGroup(NamedTuple):
    """Hits of one sort."""

    name: str
    hits: Sequence[Hit]


def cleaned(typed: str) -> str:
    """Return what somebody looks for, without what no name can hold."""
    return " ".join(typed.replace("\x00", " ").split())[:LONGEST].strip()


def search(typed: str, places: Iterable[Hit], now: datetime) -> list[HitGroup]:
    """Find everything that a text may mean; sorts without a hit are left out."""
    text = typed.casefold()
    found = resources(text)
    groups = (
        HitGroup("Go to", [each for each in places if means(text, each)][:MOST]),
        HitGroup("Resources", [as_hit(row) for row in found if row.kind != "Controller"]),
        HitGroup("Controllers", [as_hit(row) for row in controllers(text, found)]),
        HitGroup("Proposals", proposals(text, [row.pk for row in found], now)),
        HitGroup("People", people(typed)),
        HitGroup("Stories", stories(text)),
    )
    return [each for each in groups if each.hits]


def means(text: str, place: Hit) -> bool:
    """Tell whether every typed word begins a word of a place."""
    known = f"{place.title} {place.words}".casefold().split()
    return all(any(each.startswith(word) for each in known) for word in text.split())


def resources(text: str) -> list[Resource]:
    """Return living resources by name, those that begin with it first; `agent/sc` names a kind."""
    living = Resource.objects.filter(deleted_at=None).order_by("kind", "name")
    return named(living.only("kind", "name", "domain"), text)


def controllers(text: str, found: Iterable[Resource]) -> list[Resource]:
    """Return controllers by name: the many of another kind do not hide them."""
    living = Resource.objects.filter(deleted_at=None, kind="Controller").order_by("name")
    known = {row.pk: row for row in found if row.kind == "Controller"}
    known |= {row.pk: row for row in named(living.only("kind", "name", "domain"), text)}
    return list(known.values())[:MOST]


def named(rows: QuerySet[Resource], text: str) -> list[Resource]:
    """Return the first rows whose name begins with a text, and then those that hold it."""
    path, slash, name = text.partition("/")
    kind = kinds.by_path(path.strip())
    if slash and kind:
        rows, text = rows.filter(kind=kind.name), name
    text = text.strip().replace(" ", "-")
    first = list(rows.filter(name__startswith=text)[:MOST])
    if len(first) == MOST or not text:
        return first
    inside = rows.filter(name__contains=text).exclude(pk__in=[row.pk for row in first])
    return first + list(inside[: MOST - len(first)])


def as_hit(row: Resource) -> Hit:
    """Say what a resource is and where it is."""
    kind = kinds.by_name(row.kind)
    path, icon, title = (kind.path, kind.icon, kind.title) if kind else ("", "package", row.kind)
    note = f"{title} of {row.domain}" if row.domain not in ("", row.name) else title
    if row.kind == "Controller":
        return Hit(row.name, reverse("controller", args=[row.name]), icon, note)
    return Hit(row.name, reverse("resource", args=[path, row.name]), icon, note)


def proposals(text: str, about: Sequence[int], now: datetime) -> list[Hit]:
    """Return proposals by number, by what they are about, and by title among the latest."""
    number = NUMBER.fullmatch(text)
    wanted = Q(resource__in=about) | Q(pk=int(number[1]) if number else 0)
    found = {row.pk: row for row in titled().filter(wanted).order_by("-pk")[:MOST]}
    for row in latest() if len(found) < MOST else ():
        if all(word in proposal_text.title(row).casefold() for word in text.split()):
            found.setdefault(row.pk, row)
    return [proposal_hit(row, now) for row in list(found.values())[:MOST]]


def latest(most: int = LATELY) -> QuerySet[Proposal]:
    """Return what was proposed or decided lately."""
    return titled().order_by("-changed_at")[:most]


def titled() -> QuerySet[Proposal]:
    """Return proposals with what their titles are made of."""
    heavy = ("basis", "evidence", "policy", "interested", "explanation")
    rows = Proposal.objects.select_related("resource").defer(*heavy)
    return rows.defer("resource__spec", "resource__status", "resource__metadata")


def proposal_hit(row: Proposal, now: datetime) -> Hit:
    """Say what a proposal would do."""
    note = f"{proposal_text.number(row)}, {proposal_text.state(row, now).text.lower()}"
    return Hit(
        proposal_text.title(row), reverse("proposal", args=[row.pk]), "git-compare-arrows", note
    )


def people(text: str) -> list[Hit]:
    """Return people by name; the log tells what they did."""
    near = roles.colleagues(User.objects.filter(is_active=True), visibility.current())
    rows = near.order_by("username")
    for word in text.split():
        rows = rows.filter(
            Q(username__icontains=word)
            | Q(first_name__icontains=word)
            | Q(last_name__icontains=word)
        )
    return [person_hit(row) for row in rows[:MOST]]


def person_hit(person: User) -> Hit:
    """Say who somebody is."""
    actor = f"person/{person.get_username()}"
    url = f"{reverse('audit')}?{urlencode({'actor': actor})}"
    return Hit(person.get_full_name() or person.get_username(), url, "users", actor)


def stories(text: str) -> list[Hit]:
    """Return stories whose id begins with a text, along their index."""
    if not STORY.fullmatch(text):
        return []
    rows = LedgerEvent.objects.filter(correlation_id__gte=text, correlation_id__lt=f"{text}zzzz")
    ids = rows.order_by("correlation_id").values_list("correlation_id", flat=True).distinct()
    return [Hit(each, reverse("trace", args=[each]), "workflow", "trace") for each in ids[:MOST]]
