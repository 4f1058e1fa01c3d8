"""Health drift: the share of conditions that are in their bad state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter

from controllers.engine.dimension import DimensionProbe, DriftDimension, Fact
from controllers.engine.finding_text import first_sentence, listed, missed, shown
from controllers.engine.target import Target
from controllers.engine.terms import (
    Condition,
    Controller,
    Dimension,
    Document,
    Drift,
    Evidence,
    Snapshot,
    Verdict,
    Word,
)
from resources.documents import kinds
from resources.documents.kind import COMMON_CONDITIONS, ConditionType


def _bad_when_true(types: Iterable[ConditionType]) -> frozenset[str]:
    return frozenset(each.name for each in types if each.good == "False")


# The conditions that were stated, and those worked out from the status.
Stated = tuple[Sequence[Condition], Sequence[Condition]]
# How many are good, and the types of those worked out.
Good = tuple[int, tuple[str, ...]]

_type = itemgetter(0)
_YES_NO: Mapping[str, str] = {"True": "Yes", "False": "No"}
# What a controller concluded must not come back to it as a cause.
_CONTROLLERS = "controller/"
_COMMON = _bad_when_true(COMMON_CONDITIONS)
_BY_KIND = {kind.name: _bad_when_true(kind.condition_types) for kind in kinds.ALL}


def well(
    conditions: Sequence[Condition], kind: str, observations: Sequence[Condition] = ()
) -> int | None:
    """Count the conditions if all of them are in their good state; None when one is not."""
    negative, counted = _BY_KIND.get(kind, _COMMON), {}
    for each in observations:
        counted[each[0]] = each[1]
    for name, status, _, _, by, _ in conditions:
        if not by or not by.startswith(_CONTROLLERS):
            counted[name] = status
    for name, status in counted.items():
        if status != ("False" if name in negative else "True"):
            return None
    return len(counted)


def as_well(before: Document, kind: str, observations: Sequence[Condition] = ()) -> int | None:
    """Count the conditions of a resource of which no other was stated since all were good.

    What was worked out from its status must be of the same types as before, and good still.
    """
    types = [each.type for each in observations]
    if before["score"] or before.get("observed", []) != types:
        return None
    return before["of"] if well((), kind, observations) is not None else None


def measure(
    conditions: Sequence[Condition], kind: str, observations: Sequence[Condition] = ()
) -> Dimension:
    """Divide the bad conditions by all; what was reported beats what was worked out."""
    negative, counted = _BY_KIND.get(kind, _COMMON), _counted(conditions, observations)
    if not counted:
        return Dimension("health", None)
    stated = [_evidence(each, name in negative) for name, each in counted.items()]
    evidence = tuple([each for each in stated if each.verdict != "met"])
    bad = [each.verdict for each in evidence].count("missed")
    observed = tuple([each.type for each in observations])
    return Dimension("health", bad / len(counted), None, evidence, len(counted), observed)


def _counted(
    conditions: Sequence[Condition], observations: Sequence[Condition]
) -> dict[str, Condition]:
    counted = {}
    for each in observations:
        counted[each.type] = each
    for each in conditions:
        if not each.managed_by.startswith(_CONTROLLERS):
            counted[each.type] = each
    return counted


def _evidence(condition: Condition, negative: bool) -> Evidence:
    """Say how a condition stands; Unknown is neither good nor bad."""
    name, status, reason, message, by, _ = condition
    good: Word = "False" if negative else "True"
    verdict: Verdict = "met" if status == good else "missed"
    if status not in ("True", "False"):
        verdict = "unknown"
    return Evidence(f"condition/{name}", verdict, good, status, "", by, message or reason)


def unread(stated: Stated) -> tuple[str, ...]:
    """Return what a quick look knows without the conditions that were stated."""
    return tuple(map(_type, stated[1]))


def _look(_: Controller, target: Target) -> DimensionProbe:
    kind, observations = target.kind, target.observations

    def read(snapshot: Snapshot, now: datetime) -> Stated:
        return snapshot.target.conditions, observations(snapshot, now)

    def quick(stated: Stated) -> Good | None:
        conditions, observed = stated
        good = well(conditions, kind, observed)
        return None if good is None else (good, tuple(map(_type, observed)))

    def thorough(stated: Stated) -> Dimension:
        conditions, observed = stated
        return measure(conditions, kind, observed)

    return DimensionProbe(read, quick, _met, thorough)


@lru_cache(maxsize=4096)
def _met(known: Good) -> Dimension:
    good, observed = known
    return Dimension("health", 0.0 if good else None, None, (), good, observed)


def _faults(drift: Drift, _: str) -> Iterable[str]:
    wrong = missed(drift, "health")
    if wrong:
        yield listed([f"{name} is {_state(each)}" for name, each in wrong.items()])


def _state(evidence: Evidence) -> str:
    note = shown(evidence.note.strip().rstrip("."))
    return f"{evidence.observed} ({note})" if note else str(evidence.observed)


def _sides(desired: str, actual: str) -> tuple[str, str, str]:
    return _YES_NO.get(desired, desired), _YES_NO.get(actual, actual), "not met"


def _rank(note: str) -> int:
    """Put what a machine said with a number before what it said without."""
    return 1 if any(each.isdigit() for each in note) else 5


def _clause(fact: Fact) -> str:
    return first_sentence(fact.note) or f"{fact.label}: {fact.actual.lower()}"


def _share(_: Sequence[Fact], share: str) -> str:
    return f"{share} conditions not met"


DIMENSION = DriftDimension(
    name="health",
    order=20,
    weight=0.3,
    meaning="The share of conditions that are in their bad state.",
    label="Health",
    heading="conditions",
    look=_look,
    in_glance=True,
    by_name=True,
    faults=_faults,
    sides=_sides,
    rank=_rank,
    clause=_clause,
    share=_share,
)
