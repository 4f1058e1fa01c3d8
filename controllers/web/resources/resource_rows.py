"""Resources in the order people read them: those furthest off first, a page at a time.

A page goes on behind the last row of the one before, never by counting rows. Everything shown
beside a resource is read for the whole page at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.db.models import Case, Count, Exists, F, FloatField, Max, OuterRef, Q, QuerySet, When
from django.db.models.functions import Coalesce
from django.http import QueryDict

from controllers.models import Judgement
from controllers.narrative import drift_queries
from resources.documents import kinds
from resources.documents.kind import Kind
from resources.tables.models import Resource

PAGE = 50
LONGEST = 253
LARGEST_KEY = 2**63
SHOWN = ("drifting", "held")
SORTS = ("drift", "name", "domain")
FIELDS = ("kind", "name", "domain", "reported_at")


@dataclass(frozen=True)
class ResourceFilter:
    """What somebody wants to see, and in which order."""

    kind: Kind | None = None
    domain: str = ""
    text: str = ""
    show: str = ""
    sort: str = "drift"

    @classmethod
    def read(cls, query: QueryDict) -> ResourceFilter:
        """Read an address; what is not known is ignored."""
        show, sort = query.get("show", ""), query.get("sort", "")
        return cls(
            kinds.by_path(query.get("kind", "")),
            readable(query.get("domain", "")),
            readable(query.get("q", "")),
            show if show in SHOWN else "",
            sort if sort in SORTS else "drift",
        )

    def parameters(self) -> dict[str, str]:
        """Return what leads here again."""
        said = {
            "kind": self.kind.path if self.kind else "",
            "domain": self.domain,
            "q": self.text,
            "show": self.show,
            "sort": "" if self.sort == "drift" else self.sort,
        }
        return {name: value for name, value in said.items() if value}

    def where(self, place: str = "") -> Q:
        """Return the condition on living resources; `place` leads to them from another table."""
        said: dict[str, Any] = {"deleted_at": None}
        if self.kind:
            said["kind"] = self.kind.name
        if self.domain:
            said["domain"] = self.domain
        if self.text:
            said["name__icontains"] = self.text
        return Q(**{place + name: value for name, value in said.items()})


def readable(text: str) -> str:
    """Cut what somebody typed to what a name can be."""
    return text.replace("\x00", "").strip()[:LONGEST]


class CursorPage(NamedTuple):
    """The resources of one page, in their order, and where the next one begins."""

    rows: list[Resource]
    after: str


class Finder:
    """Finds resources, those that are held among them when asked for."""

    def __init__(self, wanted: ResourceFilter, held: Iterable[int] = ()) -> None:
        self.wanted, self.held = wanted, tuple(held)

    def resources(self) -> QuerySet[Resource]:
        """Select what was asked for."""
        rows = Resource.objects.filter(self.wanted.where())
        if self.wanted.show == "held":
            rows = rows.filter(pk__in=self.held)
        return rows.filter(Exists(drifted())) if self.wanted.show == "drifting" else rows

    def counts(self) -> dict[str, int]:
        """Count the resources of each kind, whichever was chosen."""
        every = replace(self.wanted, kind=None)
        found = Resource.objects.filter(every.where()).order_by().values("kind")
        return {each["kind"]: each["n"] for each in found.annotate(n=Count("pk"))}

    def drifting(self) -> int:
        """Count the resources that drift."""
        rows = judged(self.wanted).aggregate(n=Count("resource", distinct=True))
        return int(rows["n"])

    def holding(self) -> int:
        """Count the resources that somebody holds."""
        if not self.held:
            return 0
        return Resource.objects.filter(self.wanted.where(), pk__in=self.held).count()

    def page(self, after: str, size: int = PAGE) -> CursorPage:
        """Return one page."""
        order, _, rest = after.replace("\x00", "").partition("/")
        ways = {"name": self.by_name, "domain": self.by_domain}
        if self.wanted.sort in ways:
            return ways[self.wanted.sort](rest if order == self.wanted.sort else "", size)
        far = [] if order == "then" else self.furthest(rest if order == "drift" else "", size + 1)
        if len(far) > size:
            key, share = far[size - 1]
            return CursorPage(loaded(key for key, _ in far[:size]), f"drift/{share!r}/{key}")
        found = CursorPage([], "")
        if self.wanted.show != "drifting":
            found = self.others(rest if order == "then" else "", size - len(far))
        return CursorPage([*loaded(key for key, _ in far), *found.rows], found.after)

    def furthest(self, after: str, most: int) -> list[tuple[int, float]]:
        """Return the resources that drift, the furthest past its limit first."""
        rows = judged(self.wanted)
        if self.wanted.show == "held":
            rows = rows.filter(resource__in=self.held)
        worst = rows.order_by().values("resource").annotate(worst=Max(share()))
        if behind := place(after):
            score, key = behind
            worst = worst.filter(Q(worst__lt=score) | Q(worst=score, resource__gt=key))
        return list(worst.order_by("-worst", "resource").values_list("resource", "worst")[:most])

    def others(self, after: str, size: int) -> CursorPage:
        """Return the resources that do not drift, by kind and name."""
        rows = self.resources().filter(~Exists(drifted()))
        kind, _, name = after.partition("/")
        if name:
            rows = rows.filter(kind__gte=kind).filter(Q(kind__gt=kind) | Q(name__gt=name))
        return cut(rows.order_by("kind", "name"), size, "then/{0.kind}/{0.name}")

    def by_name(self, after: str, size: int) -> CursorPage:
        """Return resources by name."""
        rows, (kind, _, name) = self.resources(), after.partition("/")
        if name:
            rows = rows.filter(name__gte=name).filter(Q(name__gt=name) | Q(kind__gt=kind))
        return cut(rows.order_by("name", "kind"), size, "name/{0.kind}/{0.name}")

    def by_domain(self, after: str, size: int) -> CursorPage:
        """Return resources by domain and kind, as the index has them."""
        rows, (kind, key, at) = self.resources(), (*after.split("/", 2), "", "", "")[:3]
        if key.isdecimal() and int(key[:20]) < LARGEST_KEY:
            same = Q(kind__gt=kind) | Q(kind=kind, pk__gt=int(key))
            rows = rows.filter(domain__gte=at).filter(Q(domain__gt=at) | same)
        return cut(
            rows.order_by("domain", "kind", "pk"), size, "domain/{0.kind}/{0.pk}/{0.domain}"
        )


def drifted() -> QuerySet[Judgement]:
    """Select what says that a resource of a query around it drifts."""
    rows = Judgement.objects.filter(drifted=True, controller__deleted_at=None)
    return rows.filter(resource=OuterRef("pk"))


def judged(wanted: ResourceFilter) -> QuerySet[Judgement]:
    """Select what says that resources drift."""
    rows = Judgement.objects.filter(drifted=True, controller__deleted_at=None)
    return rows.filter(wanted.where("resource__"))


def share() -> Coalesce:
    """Return how far a judgement is past its controller's limit, as a part of it."""
    by_limit: dict[float, list[int]] = {}
    for key, limit in drift_queries.limits().items():
        by_limit.setdefault(limit, []).append(key)
    cases = [
        When(controller__in=keys, then=F("score") / limit)
        for limit, keys in by_limit.items()
        if limit
    ]
    told = Case(*cases, default=F("score"), output_field=FloatField())
    return Coalesce(told, 0.0, output_field=FloatField())


def place(text: str) -> tuple[float, int] | None:
    """Read how far off the last row of a page was, and which it was."""
    score, _, key = text.partition("/")
    try:
        found = float(score)
    except ValueError:
        return None
    fits = math.isfinite(found) and key.isdecimal() and int(key[:20]) < LARGEST_KEY
    return (found, int(key)) if fits else None


def cut(rows: QuerySet[Resource], size: int, form: str) -> CursorPage:
    """Return a page of resources, reading one more to know whether there is a next one."""
    keys = list(rows.values_list("pk", flat=True)[: size + 1])
    found = loaded(keys[:size])
    if len(keys) <= size:
        return CursorPage(found, "")
    return CursorPage(found, form.format(found[-1]) if found else form.partition("{")[0])


def loaded(keys: Iterable[int]) -> list[Resource]:
    """Load resources in the order of their keys, without their documents."""
    wanted: Sequence[int] = list(keys)
    known = Resource.objects.only(*FIELDS).in_bulk(wanted)
    return [known[key] for key in wanted if key in known]
