"""What a cycle has in sight: read at one moment, each as far as it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import orjson
from django.db import connection, transaction

from controllers.common import rows
from controllers.common.rows import Sighted, these
from controllers.engine.terms import Case, Glimpse, Related, Renewed, Snapshot
from controllers.engine.watch import JudgedSnapshot, QuickCheck, Weigh
from controllers.workqueue import concurrent_changes

ALONE = Related()
loads = orjson.loads
# As the type itself would, without a detour.
_glimpse = partial(tuple.__new__, Glimpse)


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
        if connection.connection.in_transaction:
            yield
            return
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("COMMIT")


class Relations(NamedTuple):
    """What targets are measured against: most share theirs with their whole domain."""

    by_domain: Mapping[str, Related]
    special: Mapping[int, Related]


NO_RELATIONS = Relations({}, {})


@dataclass
class InSight:
    """Targets and what they are measured against; each is read as far as it is looked at."""

    controller: int
    found: Sighted
    related: Relations
    # Those that no glance has settled yet, in the versions in which they were sighted.
    left: dict[int, int] = field(init=False)
    # Those that were changed after that: what they are measured against may be another now.
    overtaken: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = {row[0]: row[3] for row in self.found.rows}

    def __iter__(self) -> Iterator[JudgedSnapshot]:
        """Look closely at what is left: only then all of it is read."""
        if not self.left:
            return
        with one_view():
            found = rows.resources(these(self.left), self.controller)
            changed_by = concurrent_changes.changed_by(self.controller, found.disputed())
        for target, judged in found:
            key = target.key
            if target.version != self.left[key]:
                self.overtaken.append(key)
                continue
            around = self.around(key, target.domain)
            yield Snapshot(target, around, (), changed_by.get(key, ())), judged

    def glanced(self, look: QuickCheck) -> Iterator[Renewed]:
        """Look quickly at what was well, one after the other: together they would leave the cache.

        What was looked at is left only if that was not enough.
        """
        left = {}
        for row in self.found.rows:
            renewed = look(glimpse) if (glimpse := self.glimpse(row)) else None
            if renewed is None:
                left[row[0]] = row[3]
            else:
                yield renewed
        self.left = left

    def reweighed(self, weigh: Weigh) -> Iterator[Case | Renewed]:
        """Look at what is left of it without its conditions, where they are as they were."""
        alike = [row[0] for row in self.found.rows if row[0] in self.left and self.is_alike(row)]
        if not alike:
            return
        for target, judged in rows.resources(these(alike), self.controller, stated=False):
            if judged is None or target.version != self.left[target.key]:
                continue
            around = self.around(target.key, target.domain)
            settled = weigh((Snapshot(target, around), judged))
            if settled is not None:
                del self.left[target.key]
                yield settled

    def is_alike(self, row: Any) -> bool:
        """Tell whether a resource was well, and declarations and conditions are as they were."""
        key, _, domain, _, spec, _, _, basis, *_ = row
        return spec is not None and bool(basis == self.around(key, domain).basis)

    def glimpse(self, row: Any) -> Glimpse | None:
        """Decode what a glance needs, if it may be enough."""
        key, name, domain, version, spec, status, judged, basis, figures, at = row
        if spec is None or figures is None or (before := rows.found_before(figures)) is None:
            return None
        around = self.around(key, domain)
        if basis != around.basis:
            return None
        evaluated = rows.when(at) if version == judged else None
        documents = (loads(spec), loads(status))
        return _glimpse((key, name, version, *documents, around, judged, before, evaluated))

    def around(self, key: int, domain: str) -> Related:
        """Return what a target is measured against."""
        by_domain, special = self.related
        return special[key] if key in special else by_domain.get(domain, ALONE)
