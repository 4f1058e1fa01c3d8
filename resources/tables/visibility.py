"""With whose eyes is read: under a scope, what lies outside somebody's domains is not there.

The default managers of the tables ask here. Whoever looks for the whole organisation, the loop and
every command read without a scope, and without any filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import models
from django.db.models import CharField, Exists, Func, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

# Domains that stand for the whole organisation.
SHARED = ("", "*")
ORGANISATION = ""
# What is told of resources that are everybody's: what was declared, not what was done with them.
DECLARED = (
    "resource.created",
    "resource.deleted",
    "resource.metadata-changed",
    "resource.released",
    "resource.spec-changed",
)
# Who declares resources where they hold the role, and who deletes them.
EDITORS: Mapping[str, tuple[str, ...]] = {
    "add": ("operator", "administrator"),
    "change": ("operator", "administrator"),
    "delete": ("administrator",),
}

Row = TypeVar("Row", bound=models.Model)
# What somebody reads of the chains of the ledger: each rule adds some.
Chains = Callable[["Scope"], Q]
chains: list[Chains] = []


@dataclass(frozen=True)
class Scope:
    """The roles that somebody holds, each for a domain or for the organisation."""

    person: str = ""
    held: frozenset[tuple[str, str]] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether somebody sees the whole organisation."""
        return any(domain == ORGANISATION for _, domain in self.held)

    @property
    def own(self) -> tuple[str, ...]:
        """The domains that somebody has a role in."""
        return tuple(sorted({domain for _, domain in self.held}))

    @property
    def reading(self) -> tuple[str, ...]:
        """The domains that somebody reads: their own and what is everybody's."""
        return (*self.own, *SHARED) if self.held else ()

    def holds(self, roles: Iterable[str], domain: str) -> bool:
        """Tell whether somebody holds one of these roles for a domain or for the organisation."""
        places = {ORGANISATION, domain}
        return any((role, place) in self.held for role in roles for place in places)

    def edits(self, verb: str, domain: str) -> bool:
        """Tell whether somebody may add, change or delete what is declared in a domain."""
        return self.holds(EDITORS[verb], domain)

    def holds_somewhere(self, roles: Iterable[str]) -> bool:
        """Tell whether somebody holds one of these roles anywhere."""
        wanted = set(roles)
        return any(role in wanted for role, _ in self.held)


class Roles:
    """Where what people hold is read; the app that keeps the roles says so when it is ready."""

    read: Callable[[Any], Scope] = staticmethod(lambda person: Scope())


_current: ContextVar[Scope | None] = ContextVar("scope", default=None)


def current() -> Scope | None:
    """Return the scope that narrows what is read here, if any does."""
    return _current.get()


@contextmanager
def within(scope: Scope | None) -> Iterator[None]:
    """Read with somebody's eyes inside; without a scope, or with a whole one, everything."""
    narrow = None if scope is None or scope.is_whole else scope
    token = _current.set(narrow)
    try:
        yield
    finally:
        _current.reset(token)


def everything() -> Any:
    """Read everything inside: for rules that must know more than the one who looks."""
    return within(None)


def reached(model: type[models.Model], scope: Scope, paths: Iterable[str]) -> Q:
    """Ask that every domain at these paths is one that somebody reads.

    A path that begins with `?` leads over something that may be absent; then nothing is asked.
    """
    found = Q()
    for path in paths:
        plain = path.removeprefix("?")
        near = lies_in(model, plain, scope.reading)
        absent = Q(**{f"{plain.rpartition('__')[0]}__isnull": True}) if plain != path else Q()
        # Nobody without a role sees what is about nothing.
        found &= near | absent if plain != path and scope.held else near
    return found


def lies_in(model: type[models.Model], path: str, domains: Iterable[str]) -> Q:
    """Ask that the domain at a path is one of these, without a join.

    PostgreSQL asks a joined update's conditions only of the rows as they were when it began to
    wait: somebody who was faster would not be noticed.
    """
    first, _, rest = path.partition("__")
    if not rest:
        return Q(**{f"{path}__in": domains})
    there: Any = model._meta.get_field(first).related_model
    return Q(Exists(there._base_manager.filter(pk=OuterRef(first), **{f"{rest}__in": domains})))


# Most rows are about a resource, and belong where it does.
USUAL = ("resource__domain",)


class ScopedManager(models.Manager[Row]):
    """Leaves out what lies outside the scope; a table says by `scoped_by` or `within` how."""

    def get_queryset(self) -> QuerySet[Row]:
        """Return the rows that whoever looks may see."""
        rows: QuerySet[Row] = super().get_queryset()
        scope = current()
        return rows if scope is None else rows.filter(rule_of(self.model, scope))


def rule_of(model: type[models.Model], scope: Scope) -> Q:
    """Return what rows of a table somebody may see."""
    own: Callable[[Scope], Q] | None = getattr(model, "within", None)
    if own is not None:
        return own(scope)
    return reached(model, scope, getattr(model, "scoped_by", USUAL))


class EntryManager(models.Manager[Row]):
    """Does the same for the ledger, whose entries belong where their chains do."""

    def get_queryset(self) -> QuerySet[Row]:
        """Return the entries that whoever looks may see."""
        rows: QuerySet[Row] = super().get_queryset()
        scope = current()
        if scope is None:
            return rows
        resources = self.model._meta.apps.get_model("resources", "Resource")
        return rows.filter(entries(scope, resources._base_manager))


class Hyphened(Func):
    """A uid as text, as streams are named; SQLite keeps it without hyphens."""

    output_field = CharField()
    template = "CAST(%(expressions)s AS text)"

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        """Put the hyphens in."""
        parts = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
        cut = " || '-' || ".join(f"substr(%(expressions)s, {at}, {size})" for at, size in parts)
        return self.as_sql(compiler, connection, template=f"({cut})", **extra)


def streams(prefix: str, rows: QuerySet[Any], uid: str = "uid") -> Q:
    """Ask for the chains of some rows, by their uid: a name may have been somebody else's."""
    named = Concat(Value(f"{prefix}/"), Hyphened(uid), output_field=CharField())
    return Q(stream__in=rows.order_by().annotate(chain=named).values("chain"))


def entries(scope: Scope, resources: models.Manager[Any]) -> Q:
    """Say which entries somebody reads: of their domains, themselves, and what is declared."""
    own = resources.filter(domain__in=scope.own)
    shared = resources.filter(domain__in=SHARED if scope.held else ())
    found = Q(stream=f"person/{scope.person}")
    for prefix in ("resource", "admission", "telemetry"):
        found |= streams(prefix, own)
    found |= streams("resource", shared) & Q(event__in=DECLARED)
    for each in chains:
        found |= each(scope)
    return found
