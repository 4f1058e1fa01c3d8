"""What a controller looks at: its targets, what they are measured against, what it knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from controllers import rivals, rows
from controllers.engine.types import Controller, Related, Resource, Snapshot
from controllers.engine.watch import Seen
from controllers.models import Judgement as JudgementRow
from controllers.rows import Found, Outline
from resources import selectors
from resources.models import Reference
from resources.models import Resource as ResourceRow

EVERYWHERE = "*"
ITSELF = Q(target_kind=F("resource__kind"), target_name=F("resource__name"))

NOBODY: frozenset[Any] = frozenset()

Name = tuple[str, str]


ALONE = Related()


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


@contextmanager
def one_view() -> Iterator[None]:
    """Read everything inside at one moment, without keeping anybody from writing."""
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        return
    # Django would begin an IMMEDIATE transaction, which takes SQLite's only write lock.
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("COMMIT")


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
        self.shared: dict[int, Resource] = {}

    def sweep(self, after: int, size: int) -> Found:
        """Read the next resources the controller watches."""
        found = living(self.controller).filter(pk__gt=after).order_by("pk")[:size]
        return rows.resources(rows.keys_of(found), self.controller.key)

    def among(self, keys: Iterable[int]) -> Found:
        """Read those of some resources that the controller watches."""
        found = living(self.controller).filter(pk__in=rows.these(keys))
        return rows.resources(rows.keys_of(found), self.controller.key)

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

    def snapshots(self, found: Found) -> Iterator[Seen]:
        """Read what targets are measured against; yield each with what was concluded before."""
        related = self.related(found) if self.reads else {}
        changed_by = rivals.changed_by(self.controller.key, found.disputed())
        return together(found, related, changed_by)

    def related(self, found: Found) -> dict[int, Related]:
        """Find, for each target, the resources of its domains and those that name each other."""
        targets, keys = found.outlines(), rows.these(found.keys)
        out, into = self.out_of(keys), self.into(targets, keys)
        ties = {
            each.key: Ties(each.domain, out.get(each.key, NOBODY), into.get(each.key, NOBODY))
            for each in targets
        }
        different = set(ties.values())
        neighbours = self.neighbours(different)
        groups = {each: self.group(neighbours.of(each)) for each in different}
        return {key: groups[each] for key, each in ties.items()}

    def out_of(self, keys: RawSQL) -> dict[int, frozenset[Name]]:
        """Find whom targets name, besides themselves and their own domain."""
        found: dict[int, set[Name]] = defaultdict(set)
        named = Reference.objects.filter(
            resource__in=keys, target_kind__in=self.reads | {"Domain"}
        ).exclude(target_kind="Domain", target_name=F("resource__domain"))
        fields = ("resource_id", "target_kind", "target_name")
        for key, kind, name in named.exclude(ITSELF).values_list(*fields):
            found[key].add((kind, name))
        return {key: frozenset(names) for key, names in found.items()}

    def into(self, targets: Sequence[Outline], keys: RawSQL) -> dict[int, frozenset[int]]:
        """Find who names targets, besides themselves."""
        found: dict[int, set[int]] = defaultdict(set)
        by_name = {each.name: each.key for each in targets}
        naming = Reference.objects.filter(
            target_kind=self.controller.kind,
            target_name__in=ResourceRow.objects.filter(pk__in=keys).values("name"),
            resource__kind__in=self.reads,
            resource__deleted_at=None,
        )
        for key, name in naming.exclude(ITSELF).values_list("resource_id", "target_name"):
            if name in by_name:
                found[by_name[name]].add(key)
        return {key: frozenset(names) for key, names in found.items()}

    def neighbours(self, ties: Iterable[Ties]) -> Neighbours:
        """Read everything that any of these ties may lead to."""
        domains = {EVERYWHERE}.union(*(each.domains for each in ties))
        named = {name for each in ties for _, name in each.out}
        naming = {key for each in ties for key in each.into}
        # Of the targets' own kind only those that name each other, or each would load all.
        nearby = Q(domain__in=domains) & ~Q(kind=self.controller.kind)
        found = ResourceRow.objects.filter(kind__in=self.reads, deleted_at=None).filter(
            nearby | Q(name__in=named) | Q(pk__in=naming)
        )
        keys = dict(found.values_list("pk", "resource_version"))
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


# As the type itself would, without a detour.
_snapshot = partial(tuple.__new__, Snapshot)


def together(
    found: Found, related: Mapping[int, Related], changed_by: Mapping[int, tuple[str, ...]]
) -> Iterator[Seen]:
    """Put together what was read of each target."""
    for target, judged in found:
        around = related.get(target.key, ALONE)
        yield _snapshot((target, around, (), changed_by.get(target.key, ()))), judged
