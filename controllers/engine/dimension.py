"""What a dimension of drift knows: how it is measured, what it weighs, and how people read it.

Each module of `drift` makes one. Every function is pure; what a dimension has no word of its own
for is said as of any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from controllers.engine.finding_text import figures_of, missed, spelled
from controllers.engine.target import Target
from controllers.engine.terms import Controller, Dimension, Document, Drift, Related, Snapshot

# Name, spec and status of a resource, what it is measured against, and the time: how many things
# are well; None asks for a closer look.
Glances = Callable[[str, Document, Document, Related, datetime], int | None]


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at; `off` says that it is not as desired."""

    dimension: str
    label: str
    # What the product calls it.
    path: str
    desired: str
    actual: str
    gap: str
    off: bool
    note: str = ""


class DimensionProbe(NamedTuple):
    """How a controller looks at resources of one kind, in one dimension."""

    # What there is to look at.
    read: Callable[[Snapshot, datetime], Any]
    # At a quick look: what is known of it if all is well, which can be hashed; None if not.
    well: Callable[[Any], Any]
    # The dimension of what is well, out of what a quick look knows.
    met: Callable[[Any], Dimension]
    # The dimension after a thorough look.
    measure: Callable[[Any], Dimension]


@lru_cache(maxsize=4096)
def met(name: str, count: int) -> Dimension:
    """Return the dimension of so many things that are well; of none, nothing is known."""
    return Dimension(name, 0.0 if count else None, None, (), count)


def _as_given(desired: str, actual: str) -> tuple[str, str, str]:
    return desired, actual, "not as declared"


def _fourth(_: str) -> int:
    return 4


def _clause(fact: Fact) -> str:
    return f"{fact.label} is {fact.actual}, wanted {fact.desired}"


def _share(_: Sequence[Fact], share: str) -> str:
    return f"{share} not as declared"


@dataclass(frozen=True, kw_only=True, eq=False)
class DriftDimension:
    """One dimension of drift."""

    name: str
    # Its place among the others, wherever they are listed.
    order: int
    # What it weighs where a controller does not say.
    weight: float
    # What is measured, in one sentence for the reference.
    meaning: str
    # What people call it, and what its findings are headed with.
    label: str
    heading: str
    # How a controller looks at a kind; None where that kind has nothing to look at.
    look: Callable[[Controller, Target], DimensionProbe | None]
    # Whether the quick look of a target counts it; else its own does, or each gets a closer look.
    in_glance: bool = False
    glance: Glances | None = None
    # Whether what it names are fields of the document, and whether a fact shows the bare name.
    in_document: bool = False
    by_name: bool = False
    # What was found amiss, as parts of a sentence; the text is what a kind calls its measures.
    faults: Callable[[Drift, str], Iterable[str]] | None = None
    # A name as words.
    titled: Callable[[str], str] = spelled
    # What is desired, what is there and how far apart they are, where that is no limit.
    sides: Callable[[str, str], tuple[str, str, str]] = _as_given
    # What is told first: the smaller; the note may say.
    rank: Callable[[str], int] = _fourth
    # What is wrong with one thing, in a clause.
    clause: Callable[[Fact], str] = _clause
    # What was found of how many, beside its part of the score; None keeps it out of the picture.
    share: Callable[[Sequence[Fact], str], str] | None = _share

    def said(self, drift: Drift, measures: str) -> Iterable[str]:
        """Return what it found amiss, as parts of a sentence."""
        if self.faults is not None:
            return self.faults(drift, measures)
        wrong = missed(drift, self.name)
        return [figures_of(wrong)] if wrong else []
