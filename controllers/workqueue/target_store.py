"""What a controller looks at: its targets, what they are measured against, what it knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from controllers.common import rows
from controllers.common.rows import Prepared, Sighted, Slot, called, these
from controllers.common.rows.queries import KEYS
from controllers.engine.terms import Controller, Related, Resource
from controllers.models import Judgement as JudgementRow
from controllers.workqueue.chunk_snapshot import NO_RELATIONS, InSight, Relations
from resources.store import selectors
from resources.tables.models import Reference
from resources.tables.models import Resource as ResourceRow

EVERYWHERE = "*"
# SQLite goes through the tables of a CROSS JOIN as they are written: the targets come first, or it
# might go through all references there are for each chunk.
NAMING = """
    SELECT naming.resource_id, found.id
    FROM resources_resource AS found CROSS JOIN resources_reference AS naming
    WHERE found.id IN ({keys}) AND naming.target_kind = found.kind
      AND naming.target_name = found.name AND naming.resource_id <> found.id
      AND EXISTS (SELECT 1 FROM resources_resource AS source WHERE source.id = naming.resource_id
        AND source.deleted_at IS NULL AND source.kind IN ({kinds}))
"""
ITSELF = Q(target_kind=F("resource__kind"), target_name=F("resource__name"))

NOBODY: frozenset[Any] = frozenset()

Name = tuple[str, str]


class Ties(NamedTuple):
    """What ties a target to others: its domain, whom else it names, and who names it."""

    domain: str
    out: frozenset[Name]
    into: frozenset[int]

    @property
    def domains(self) -> set[str]:
        """The domains it has a part in."""
        return {self.domain, *(name for kind, name in self.out if kind == "Domain")}


class Neighbours(NamedTuple):
    """The keys of what targets may be measured against, by domain and by name."""

    by_domain: Mapping[str, list[int]]
    by_name: Mapping[Name, int]

    def of(self, ties: Ties) -> set[int]:
        """Return the keys that a target is tied to."""
        domains = {EVERYWHERE, *ties.domains}
        found = {key for domain in domains for key in self.by_domain.get(domain, ())}
        found.update(self.by_name[name] for name in ties.out if name in self.by_name)
        return found.union(ties.into)


class Queries:
    """What is asked about the surroundings of targets of one kind, spelled once."""

    def __init__(self, kind: str, reads: frozenset[str]) -> None:
        self.kind, self.reads = kind, reads
        self.named = Prepared(self._named)
        self.nearby = Prepared(self._nearby)

    def _named(self) -> QuerySet[Reference, Any]:
        """Ask whom targets name."""
        found = Reference.objects.filter(
            resource__in=these(Slot("keys")), target_kind__in=sorted(self.reads | {"Domain"})
        ).exclude(target_kind="Domain", target_name=F("resource__domain"))
        return found.exclude(ITSELF).values_list("resource_id", "target_kind", "target_name")

    def naming(self, keys: str) -> list[tuple[int, int]]:
        """Ask who names targets, besides themselves."""
        kinds, marks = sorted(self.reads), ", ".join(["%s"] * len(self.reads))
        statement = NAMING.format(keys=KEYS[connection.vendor], kinds=marks)
        with connection.cursor() as cursor:
            cursor.execute(statement, [keys, *kinds])
            found: list[tuple[int, int]] = cursor.fetchall()
        return found

    def _nearby(self) -> QuerySet[ResourceRow, Any]:
        """Ask for what lies in some domains, is named, or names."""
        # Of the targets' own kind only those that name each other, or each would load all.
        nearby = Q(domain__in=called(Slot("domains"))) & ~Q(kind=self.kind)
        named = Q(name__in=called(Slot("named"))) | Q(pk__in=these(Slot("naming")))
        found = ResourceRow.objects.filter(kind__in=sorted(self.reads), deleted_at=None)
        return found.filter(nearby | named).values_list("pk", "resource_version")


# Those of one kind of targets, and of the same neighbours, are the same.
queries = cache(Queries)


def living(controller: Controller) -> QuerySet[ResourceRow]:
    """Return the rows a controller watches: its kind, its labels, not deleted."""
    found = ResourceRow.objects.filter(kind=controller.kind, deleted_at=None)
    return selectors.matching(found, selectors.match_labels(controller.labels))


class Reader:
    """Reads snapshots for one cycle; what many targets share is decoded once."""

    MOST_SHARED = 5_000

    def __init__(self, controller: Controller, reads: Iterable[str]) -> None:
        self.controller = controller
        self.reads = frozenset(reads)
        self.queries = queries(controller.kind, self.reads)
        self.shared: dict[int, Resource] = {}

    def sweep(self, after: int, size: int) -> Sighted:
        """Read the next resources the controller watches."""
        found = living(self.controller).filter(pk__gt=after).order_by("pk")[:size]
        return rows.sighted(rows.keys_of(found), self.controller.key, after)

    def among(self, keys: Iterable[int]) -> Sighted:
        """Read those of some resources that the controller watches."""
        found = living(self.controller).filter(pk__in=rows.these(keys))
        return rows.sighted(rows.keys_of(found), self.controller.key)

    def strays(self) -> list[int]:
        """Return the keys of what was judged and is no longer watched."""
        known = JudgementRow.objects.filter(controller=self.controller.key)
        watched = living(self.controller).filter(pk=OuterRef("resource"))
        left = known.exclude(Exists(watched)).order_by("resource_id")
        return list(left.values_list("resource_id", flat=True))

    def judged(self, keys: Collection[int]) -> list[int]:
        """Return those of some resources that were judged before."""
        if not keys:
            return []
        known = JudgementRow.objects.filter(controller=self.controller.key, resource__in=keys)
        return sorted(known.values_list("resource_id", flat=True))

    def snapshots(self, found: Sighted) -> InSight:
        """Read what targets are measured against, to look at each with all that it takes."""
        related = self.related(found) if self.reads else NO_RELATIONS
        return InSight(self.controller.key, found, related)

    def related(self, found: Sighted) -> Relations:
        """Find the resources of the targets' domains, and those that name each other."""
        keys = rows.listed(found.keys)
        out, into = self.out_of(keys), self.into(keys)
        domains = {row[2] for row in found.rows}
        special = {
            row[0]: Ties(row[2], out.get(row[0], NOBODY), into.get(row[0], NOBODY))
            for row in found.rows
            if row[0] in out or row[0] in into
        }
        usual = {domain: Ties(domain, NOBODY, NOBODY) for domain in domains}
        different = {*usual.values(), *special.values()}
        neighbours = self.neighbours(different)
        groups = {each: self.group(neighbours.of(each)) for each in different}
        return Relations(
            {domain: groups[each] for domain, each in usual.items()},
            {key: groups[each] for key, each in special.items()},
        )

    def out_of(self, keys: str) -> dict[int, frozenset[Name]]:
        """Find whom targets name, besides themselves and their own domain."""
        found: dict[int, set[Name]] = defaultdict(set)
        for key, kind, name in self.queries.named(keys=keys):
            found[key].add((kind, name))
        return {key: frozenset(names) for key, names in found.items()}

    def into(self, keys: str) -> dict[int, frozenset[int]]:
        """Find who names targets, besides themselves."""
        found: dict[int, set[int]] = defaultdict(set)
        for key, target in self.queries.naming(keys):
            found[target].add(key)
        return {key: frozenset(names) for key, names in found.items()}

    def neighbours(self, ties: Iterable[Ties]) -> Neighbours:
        """Read everything that any of these ties may lead to."""
        domains = {EVERYWHERE}.union(*(each.domains for each in ties))
        nearby = self.queries.nearby(
            domains=rows.names(domains),
            named=rows.names({name for each in ties for _, name in each.out}),
            naming=rows.listed({key for each in ties for key in each.into}),
        )
        keys: dict[int, int] = dict(nearby)
        self.remember(keys)
        by_domain: dict[str, list[int]] = defaultdict(list)
        for each in map(self.shared.__getitem__, keys):
            if each.kind != self.controller.kind:
                by_domain[each.domain].append(each.key)
        by_name = {(self.shared[key].kind, self.shared[key].name): key for key in keys}
        return Neighbours(by_domain, by_name)

    def remember(self, found: Mapping[int, int]) -> None:
        """Decode what is new among the related resources; forget all when it grows too large."""
        if len(self.shared) > self.MOST_SHARED:
            self.shared.clear()
        missing = [
            key
            for key, version in found.items()
            if key not in self.shared or self.shared[key].version != version
        ]
        if missing:
            for each, _ in rows.resources(rows.these(missing)):
                self.shared[each.key] = each

    def group(self, keys: Iterable[int]) -> Related:
        """Sort related resources by kind, and within by key."""
        kinds: dict[str, list[Resource]] = defaultdict(list)
        for key in sorted(keys):
            kinds[self.shared[key].kind].append(self.shared[key])
        return Related({kind: tuple(found) for kind, found in sorted(kinds.items())})
