"""What is read: resources, their conditions, and what belongs together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from controllers.engine.terms.measurements import Glance

Document = Mapping[str, Any]
Word = Literal["True", "False", "Unknown"]
Worked = TypeVar("Worked")


class Condition(NamedTuple):
    """One statement about a resource; `managed_by` names the controller that wrote it."""

    type: str
    status: Word
    reason: str = ""
    message: str = ""
    managed_by: str = ""
    extra: Document = {}


class Resource(NamedTuple):
    """A resource as WATCH read it; `key` is its row, `version` its resource version."""

    key: int
    uid: str
    kind: str
    name: str
    domain: str
    generation: int
    version: int
    labels: Mapping[str, str]
    spec: Document
    status: Document
    conditions: tuple[Condition, ...] = ()
    created_at: datetime | None = None
    reported_at: datetime | None = None

    def __hash__(self) -> int:
        """Hash what names its content, which itself cannot be hashed."""
        return hash((self.key, self.version))

    @property
    def ref(self) -> str:
        """The resource as the specification writes a target: `domain/product`."""
        return f"{self.kind.lower()}/{self.name}"


class Related(dict[str, tuple[Resource, ...]]):
    """What targets are measured against, by kind; those with the same ties share it."""

    def __init__(self, by_kind: Mapping[str, tuple[Resource, ...]] | None = None) -> None:
        super().__init__(by_kind or {})
        # The declarations a judgement rests on besides its target's own.
        self.basis = ",".join(
            f"{each.key}:{each.generation}" for group in self.values() for each in group
        )
        self.known: dict[Any, Any] = {}

    def once(self, work: Callable[[Related], Worked]) -> Worked:
        """Work something out once for all that share this."""
        if work not in self.known:
            self.known[work] = work(self)
        found: Worked = self.known[work]
        return found


class Snapshot(NamedTuple):
    """What WATCH read for one target: itself, what it is measured against, and what is missing."""

    target: Resource
    related: Related = Related()
    missing: tuple[str, ...] = ()
    # The controllers that declared it anew since it was last judged, if nobody else did.
    changed_by: tuple[str, ...] = ()

    def of(self, kind: str) -> tuple[Resource, ...]:
        """Return the related resources of a kind."""
        return self.related.get(kind, ())

    @property
    def basis(self) -> str:
        """The declarations a judgement rests on besides its target's own."""
        return self.related.basis


class Glimpse(NamedTuple):
    """A resource that was well, as it is read for a quick look: nothing more is decoded.

    It was judged before and found as declared. Neither its spec, nor its conditions, nor what it
    is measured against were declared anew since, and the clock alone changes nothing.
    """

    key: int
    name: str
    version: int
    spec: Document
    status: Document
    related: Related
    # The version that was judged, what was found of it, and when; that is not asked for where the
    # version moved.
    judged_version: int
    before: Glance
    evaluated_at: datetime | None
