"""Decision: its review, its assumptions, its state, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from controllers.engine.document_values import items, later, moment, soonest, text
from controllers.engine.explanation import explain
from controllers.engine.finding_text import listed, missed, shown
from controllers.engine.target import Target
from controllers.engine.terms import (
    Condition,
    Difference,
    Document,
    Drift,
    Reading,
    Resource,
    Snapshot,
    Step,
)

# A closed decision asks nothing any more of its review, its assumptions or its effect.
_OPEN = ("proposed", "accepted", "active")
# States that may be observed, by the status declared.
_EXPECTED = {
    "proposed": ("proposed",),
    "accepted": ("proposed", "active"),
    "active": ("active",),
    "reversed": ("reversed",),
    "deprecated": ("archived",),
    "superseded": ("archived",),
}
_DAY = timedelta(days=1)
# A figure without a sign does not say in which direction it goes.
_CHANGE = re.compile(
    r"([+\-\u2212])(?<![\w.,].)\s?(\d{1,3}(?:,\d{3})+|\d{1,15})(\.\d{1,9})?(?![.,]?\d)\s?(%|percent)?",
    re.ASCII,
)


class _Change(NamedTuple):
    value: float
    unit: str
    falling: bool


def _kpis(snapshot: Snapshot, _: datetime) -> Sequence[Reading]:
    spec, status = snapshot.target.spec, snapshot.target.status
    if spec.get("status") not in _OPEN:
        return ()
    impacts = items(status, "kpiActualImpact")
    actual = {text(each.get("kpi")): _change(text(each.get("actual"))) for each in impacts}
    return [
        _reading(name, _change(text(each.get("expected"))), actual.get(name))
        for each in items(spec, "kpiImpact")
        if (name := text(each.get("kpi")))
    ]


@lru_cache(maxsize=4096)
def _change(prose: str) -> _Change | None:
    """Take the first signed figure of a text such as `+20% through fewer returns`."""
    match = _CHANGE.search(prose)
    if match is None:
        return None
    sign, whole, fraction, unit = match.groups()
    size, falling = float(whole.replace(",", "") + (fraction or "")), sign != "+"
    return _Change(-size if falling else size, "percent" if unit else "", falling)


def _reading(name: str, wanted: _Change | None, found: _Change | None) -> Reading:
    if wanted is None:
        note = "What is expected names no signed figure."
        return Reading(name, "", None, None, note=note)
    operator = "lte" if wanted.falling else "gte"
    if found is None:
        note = "No signed figure has been reported."
    elif found.unit != wanted.unit:
        note = "One of the two figures is a percentage, the other is not."
    else:
        return Reading(name, operator, wanted.value, found.value, wanted.unit)
    return Reading(name, operator, wanted.value, None, wanted.unit, note=note)


def _observations(snapshot: Snapshot, now: datetime) -> Sequence[Condition]:
    target, end = snapshot.target, _review_ends(snapshot.target)
    overdue = end is not None and end <= now
    review = _review(target, overdue) if end else ()
    return [*review, *_assumptions(target, overdue), *_lifecycle(target)]


def _review_ends(target: Resource) -> datetime | None:
    """Return the end of the day an open decision is to be reviewed on."""
    day = moment(target.spec.get("reviewDate"))
    return later(day, _DAY) if day and target.spec.get("status") in _OPEN else None


def _review(target: Resource, overdue: bool) -> Iterator[Condition]:
    if overdue:
        yield Condition("ReviewCurrent", "False", "Overdue", _overdue(target))
    else:
        message = f"Its review is due on {target.spec['reviewDate']}."
        yield Condition("ReviewCurrent", "True", "NotDue", message)


def _overdue(target: Resource) -> str:
    day, phase = text(target.spec["reviewDate"]), text(target.spec.get("status"))
    return f"Its review was due on {day}, and it is still {phase}."


def _assumptions(target: Resource, overdue: bool) -> Iterator[Condition]:
    assumptions = items(target.spec, "assumptions")
    if not assumptions or target.spec.get("status") not in _OPEN:
        return
    invalid = [each for each in assumptions if each.get("status") == "invalidated"]
    untested = [each for each in assumptions if each.get("status") in ("untested", None)]
    of = f"of {len(assumptions)} assumptions"
    if invalid:
        message = f"{len(invalid)} {of} failed: {_named(invalid)}."
        yield Condition("AssumptionsValid", "False", "Invalidated", message)
    elif untested and overdue:
        day = text(target.spec["reviewDate"])
        message = f"{len(untested)} {of} were not tested by {day}: {_named(untested)}."
        yield Condition("AssumptionsValid", "Unknown", "Untested", message)
    else:
        yield Condition("AssumptionsValid", "True", "Holding", f"0 {of} failed.")


def _named(assumptions: Sequence[Document]) -> str:
    return listed(
        [
            f"{text(each.get('id'))} ({shown(text(each.get('statement')).rstrip('.'))})"
            for each in assumptions
        ]
    )


def _lifecycle(target: Resource) -> Iterator[Condition]:
    mismatch = _mismatch(target)
    if mismatch:
        yield Condition("LifecycleInSync", "False", "OutOfSync", mismatch.note)
        return
    phase, state = text(target.spec.get("status")), text(target.status.get("state"))
    if state and phase in _EXPECTED:
        message = f"Declared {phase}, observed {state}."
        yield Condition("LifecycleInSync", "True", "InSync", message)


def _mismatch(target: Resource) -> Difference | None:
    phase, state = text(target.spec.get("status")), text(target.status.get("state"))
    successor = text(target.spec.get("supersededBy"))
    if successor and phase != "superseded":
        note = f"It is declared {phase}, yet superseded by {successor}."
        return Difference("spec.status", "superseded", phase, note=note)
    expected = _EXPECTED.get(phase, ())
    if state and expected and state not in expected:
        note = f"It is declared {phase} and observed {state}, not {' or '.join(expected)}."
        return Difference("status.state", expected[-1], state, note=note)
    return None


def _fields(snapshot: Snapshot, now: datetime) -> Sequence[Difference]:
    target, end = snapshot.target, _review_ends(snapshot.target)
    found = [mismatch] if (mismatch := _mismatch(target)) else []
    if end and end <= now:
        day = text(target.spec["reviewDate"])
        found.append(Difference("spec.reviewDate", day, None, "stale", _overdue(target)))
    return found


def _steps(snapshot: Snapshot, drift: Drift, _: datetime) -> Sequence[Step]:
    target, mismatch = snapshot.target, _mismatch(snapshot.target)
    wrong = [*missed(drift, "field"), *missed(drift, "health"), *missed(drift, "kpi")]
    if wrong and mismatch and mismatch.desired in ("superseded", "archived"):
        wrong = [each for each in wrong if each not in (mismatch.path, "LifecycleInSync")]
        steps = [_archive(target, mismatch)]
    else:
        steps = []
    return [*steps, _flag(target, wrong, _explain(snapshot, drift))] if wrong else steps


def _flag(target: Resource, about: list[str], why: str) -> Step:
    deciders = target.spec.get("deciders")
    names = [_name(each) for each in deciders] if isinstance(deciders, list) else []
    people = [name for name in names if name]
    who = listed(people) or f"The deciders of {target.domain}"
    return Step(
        operation="flag-for-review",
        parameters={"decision": target.name, "deciders": people, "about": about},
        kind="notify",
        risk="low",
        reversible=True,
        why=why,
        otherwise=f"{who} may go on relying on {target.name} as it is.",
    )


def _name(decider: Any) -> str:
    return text(decider.get("name")) if isinstance(decider, dict) else text(decider)


def _archive(target: Resource, mismatch: Difference) -> Step:
    state, successor = text(target.status.get("state")), text(target.spec.get("supersededBy"))
    return Step(
        operation="archive",
        parameters={"decision": target.name, "from": state, "to": "archived"},
        kind="change",
        risk="medium",
        reversible=True,
        why=f"{target.name}: {mismatch.note}",
        otherwise=f"{target.name} still counts, beside {successor or 'what came after it'}.",
        touches=tuple(dict.fromkeys((mismatch.path, "status.state"))),
        rollback={
            "operation": "restore",
            "parameters": {"decision": target.name, "from": "archived", "to": state},
        },
        preconditions=(f"decision.spec.status == '{text(target.spec.get('status'))}'",),
    )


def _explain(snapshot: Snapshot, drift: Drift) -> str:
    return explain(snapshot, drift, "expected effects")


def _recheck(snapshot: Snapshot, now: datetime) -> datetime | None:
    return soonest((_review_ends(snapshot.target),), now)


TARGET = Target(
    kind="Decision",
    kpis=_kpis,
    observations=_observations,
    fields=_fields,
    steps=_steps,
    explain=_explain,
    recheck=_recheck,
)
