"""Say what is wrong, in one sentence that carries the names and the figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from controllers.engine.reading import figure, number, quantity
from controllers.engine.types import Drift, Evidence, Snapshot, Spend

_MOST_NAMED = 3
_LONGEST = 200


def explain(snapshot: Snapshot, drift: Drift, measures: str = "KPIs") -> str:
    """Say in one sentence where a resource is not as declared."""
    faults = [*_kpis(drift, measures), *_conditions(drift), *_spending(drift), *_security(drift)]
    faults += _fields(drift)
    if faults:
        return f"{'; '.join(faults)}."
    known = drift.score is not None
    return f"{snapshot.target.ref} {'is as declared' if known else 'has reported nothing yet'}."


def missed(drift: Drift, dimension: str) -> dict[str, Evidence]:
    """Return what a dimension found amiss, by name."""
    measured = drift.of(dimension)
    evidence = measured.evidence if measured else ()
    return {name_of(each): each for each in evidence if each.verdict == "missed"}


def name_of(evidence: Evidence) -> str:
    """Return the name in the subject of a piece of evidence: `churn` of `kpi/churn`."""
    return evidence.subject.partition("/")[2]


def listed(words: Sequence[str]) -> str:
    """Join words as people do, and only count those beyond the first few."""
    if len(words) > _MOST_NAMED:
        words = [*words[:_MOST_NAMED], f"{len(words) - _MOST_NAMED} more"]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def spending_of(spending: Sequence[Spend]) -> str:
    """Write what was used of which limits."""
    return listed(
        [
            f"{each.name} {figure(each.consumed)} of {quantity(each.allocated, each.unit)}"
            for each in spending
        ]
    )


def shown(value: Any) -> str:
    """Write a value of a document for people, cut to a readable length."""
    amount = number(value)
    written = figure(amount) if amount is not None else "nothing" if value is None else str(value)
    return written if len(written) <= _LONGEST else f"{written[:_LONGEST]}…"


def _kpis(drift: Drift, measures: str) -> Iterable[str]:
    wrong = missed(drift, "kpi")
    measured = drift.of("kpi")
    if wrong and measured:
        known = measured.of - sum(each.verdict == "unknown" for each in measured.evidence)
        verb = "misses its" if len(wrong) == 1 else "miss their"
        yield f"{len(wrong)} of {known} {measures} {verb} target: {_figures(wrong)}"


def _figures(wrong: dict[str, Evidence]) -> str:
    return listed(
        [
            f"{name} is {shown(each.observed)} (wanted {shown(each.desired)})"
            for name, each in wrong.items()
        ]
    )


def _conditions(drift: Drift) -> Iterable[str]:
    wrong = missed(drift, "health")
    if wrong:
        yield listed([f"{name} is {_state(each)}" for name, each in wrong.items()])


def _state(evidence: Evidence) -> str:
    note = shown(evidence.note.strip().rstrip("."))
    return f"{evidence.observed} ({note})" if note else str(evidence.observed)


def _spending(drift: Drift) -> Iterable[str]:
    for name, each in missed(drift, "budget").items():
        limit = str(each.desired).removeprefix("<= ")
        yield f"{name}: {shown(each.observed)} used of {limit}"


def _security(drift: Drift) -> Iterable[str]:
    for name, each in missed(drift, "security").items():
        noun = "violation" if each.observed == 1 else "violations"
        yield f"{name} has {shown(each.observed)} {noun} {each.note}".rstrip()


def _fields(drift: Drift) -> Iterable[str]:
    said = {each.note for each in missed(drift, "health").values()} - {""}
    unsaid = [each for each in drift.differences if each.note not in said]
    for each in unsaid[:_MOST_NAMED]:
        detail = f"{each.path} is {shown(each.observed)}, declared {shown(each.desired)}"
        yield each.note.rstrip(".") or detail
