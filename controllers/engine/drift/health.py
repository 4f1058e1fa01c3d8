"""Health drift: the share of conditions that are in their bad state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from controllers.engine.types import Condition, Dimension, Evidence, Verdict, Word
from resources import kinds
from resources.kind import COMMON_CONDITIONS, ConditionType

# The good status of a type, and what each status means for it; Unknown is neither.
_Polarity = tuple[Word, Mapping[str, Verdict]]
_POSITIVE: _Polarity = ("True", {"True": "met", "False": "missed"})
_NEGATIVE: _Polarity = ("False", {"True": "missed", "False": "met"})


def _bad_when_true(types: Iterable[ConditionType]) -> frozenset[str]:
    return frozenset(each.name for each in types if each.good == "False")


_COMMON = _bad_when_true(COMMON_CONDITIONS)
_BY_KIND = {kind.name: _bad_when_true(kind.condition_types) for kind in kinds.ALL}


def measure(
    conditions: Sequence[Condition], kind: str, observations: Sequence[Condition] = ()
) -> Dimension:
    """Divide the bad conditions by all; what was reported beats what was worked out."""
    counted = {each.type: each for each in observations}
    for each in conditions:
        # What a controller concluded must not come back to it as a cause.
        if not each.managed_by.startswith("controller/"):
            counted[each.type] = each
    if not counted:
        return Dimension("health", None)
    bad, evidence, negative = 0, [], _BY_KIND.get(kind, _COMMON)
    for name, status, reason, message, by, _ in counted.values():
        good, meanings = _NEGATIVE if name in negative else _POSITIVE
        if status == good:
            continue
        verdict = meanings.get(status, "unknown")
        bad += verdict == "missed"
        note = message or reason
        evidence.append(Evidence(f"condition/{name}", verdict, good, status, "", by, note))
    return Dimension("health", bad / len(counted), None, tuple(evidence), len(counted))
