"""Health drift: the share of conditions that are in their bad state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from controllers.engine.types import Condition, Dimension, Document, Evidence, Verdict, Word
from resources import kinds
from resources.kind import COMMON_CONDITIONS, ConditionType


def _bad_when_true(types: Iterable[ConditionType]) -> frozenset[str]:
    return frozenset(each.name for each in types if each.good == "False")


# What a controller concluded must not come back to it as a cause.
_CONTROLLERS = "controller/"
_COMMON = _bad_when_true(COMMON_CONDITIONS)
_BY_KIND = {kind.name: _bad_when_true(kind.condition_types) for kind in kinds.ALL}


def well(
    conditions: Sequence[Condition], kind: str, observations: Sequence[Condition] = ()
) -> int | None:
    """Count the conditions if all of them are in their good state; None when one is not."""
    negative, counted = _BY_KIND.get(kind, _COMMON), {each[0]: each[1] for each in observations}
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
