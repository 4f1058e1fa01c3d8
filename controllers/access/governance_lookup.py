"""Which Governance covers a domain: its own, what that extends, and the organisation's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from resources.tables.models import Resource
from resources.tables.visibility import everything

EVERYWHERE = "*"
Named = tuple[str, Mapping[str, Any]]


class Covering:
    """All Governance as it is declared now."""

    def __init__(self, rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
        self.by_domain: dict[str, list[str]] = defaultdict(list)
        self.specs: dict[str, Mapping[str, Any]] = {}
        for name, domain, spec in rows:
            self.by_domain[domain].append(name)
            self.specs[name] = spec

    @classmethod
    def read(cls) -> Self:
        """Read what is declared, also what the one who looks does not see: it counts for them."""
        with everything():
            found = Resource.objects.filter(kind="Governance", deleted_at=None).order_by("name")
            return cls(found.values_list("name", "domain", "spec"))

    def covering(self, domain: str) -> Iterator[Mapping[str, Any]]:
        """Yield what covers a domain, the nearest first."""
        for _, spec in self.named(domain):
            yield spec

    def named(self, domain: str) -> Iterator[Named]:
        """Yield the same, each with its name."""
        told: set[str] = set()
        for start in (*self.by_domain.get(domain, ()), *self.by_domain.get(EVERYWHERE, ())):
            name = start
            while name in self.specs and name not in told:
                told.add(name)
                yield name, self.specs[name]
                name = str(self.specs[name].get("extends") or "")
