"""Field drift: what is not as declared, field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from controllers.engine.dimension import DimensionProbe, DriftDimension, Fact
from controllers.engine.finding_text import MOST_NAMED, first_sentence, missed, shown, spelled
from controllers.engine.target import Target
from controllers.engine.terms import (
    Controller,
    Difference,
    Dimension,
    Drift,
    Evidence,
    Snapshot,
)

Reads = Callable[[Snapshot, datetime], Sequence[Difference]]

_NOT_COMPARED = Dimension("field", None)
_AS_DECLARED = Dimension("field", 0.0)


def measure(differences: Sequence[Difference], compared: bool) -> Dimension:
    """Score n differences as n / (n + 1); what nobody manages is not counted."""
    if not compared:
        return _NOT_COMPARED
    evidence = tuple([_evidence(each) for each in differences if each.category != "unmanaged"])
    if not evidence:
        return _AS_DECLARED
    # A target names only what differs, so there is no total to divide by: this grows with every
    # difference, starts at a half, and stays below one.
    count = len(evidence)
    return Dimension("field", count / (count + 1), None, evidence, count)


def _evidence(difference: Difference) -> Evidence:
    path, desired, observed, category, note = difference
    return Evidence(f"field/{path}", "missed", desired, observed, "", "", note or category)


def _look(controller: Controller, target: Target) -> DimensionProbe:
    compared = target.fields is not Target.fields

    def well(differences: Sequence[Difference]) -> bool | None:
        return None if differences else compared

    def met(known: bool) -> Dimension:
        return measure((), known)

    def thorough(differences: Sequence[Difference]) -> Dimension:
        return measure(differences, compared)

    ignored = controller.ignored
    read = _relevant(target.fields, ignored) if ignored else target.fields
    return DimensionProbe(read, well, met, thorough)


def _relevant(fields: Reads, ignored: tuple[str, ...]) -> Reads:
    below = tuple(f"{path}{mark}" for path in ignored for mark in ".[")

    def read(snapshot: Snapshot, now: datetime) -> Sequence[Difference]:
        return [
            each
            for each in fields(snapshot, now)
            if each.path not in ignored and not each.path.startswith(below)
        ]

    return read


def _faults(drift: Drift, _: str) -> Iterable[str]:
    # A condition may have said the same.
    said = {each.note for each in missed(drift, "health").values()} - {""}
    unsaid = [each for each in drift.differences if each.note not in said]
    for each in unsaid[:MOST_NAMED]:
        detail = f"{each.path} is {shown(each.observed)}, declared {shown(each.desired)}"
        yield each.note.rstrip(".") or detail


def _titled(name: str) -> str:
    return spelled(name.rpartition(".")[2])


def _clause(fact: Fact) -> str:
    if " " in fact.note:
        return first_sentence(fact.note)
    return f"{fact.label} is {fact.actual}, wanted {fact.desired}"


DIMENSION = DriftDimension(
    name="field",
    order=50,
    weight=0.0,
    meaning="What is not as declared, field by field: n differences are n / (n + 1).",
    label="Fields",
    heading="fields",
    look=_look,
    in_glance=True,
    in_document=True,
    by_name=True,
    faults=_faults,
    titled=_titled,
    clause=_clause,
    share=None,
)
