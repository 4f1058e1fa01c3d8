"""REPORT: what a cycle concludes, as data: judgements, conditions and events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from controllers.engine import conditions, events
from controllers.engine.due_times import next_due
from controllers.engine.hooks import HOOK_FAILED
from controllers.engine.terms import (
    Case,
    Condition,
    Controller,
    Dimension,
    Document,
    Episode,
    Evidence,
    Judgement,
    Outcome,
    Planned,
    Resource,
    Snapshot,
    Word,
)

VERDICTS: Mapping[str, tuple[Word, str]] = {
    "healthy": ("True", "Converged"),
    "settling": ("Unknown", "Settling"),
    "drifted": ("False", "DriftDetected"),
    "held": ("False", HOOK_FAILED),
    "parked": ("False", "NotConverging"),
    "unknown": ("Unknown", "NoData"),
}
# The states that an outside controller may have its own word for.
NAMEABLE = ("healthy", "drifted")
# Why a resource could not be judged: it could not be compared, or something failed after that.
ERRORS = ("CompareError", "ReconcileError")
ENDINGS: Mapping[str, str] = {
    "MaxIterations": "Stopped: the actions did not help as often as they may be tried.",
    "Deadline": "Stopped: it did not converge in time.",
    "ErrorLimit": "Stopped: the actions failed too often in a row.",
    "Relapsed": "Stopped: what was repaired came undone again and again.",
    "Regressed": "Stopped: the actions made it worse.",
}
WELL = VERDICTS["healthy"][1]
# What a judgement says before and after the times at which it was made.
FACTS = slice(Judgement._fields.index("since"))
STORY = slice(Judgement._fields.index("evaluated_at") + 1, None)
PARTS = Evidence._fields


def conclude(
    controller: Controller,
    planned: Planned,
    outcomes: tuple[Outcome, ...],
    judged: Judgement | None,
    recheck: datetime | None,
    now: datetime,
) -> Case:
    """Conclude about one resource."""
    judgement = judge(controller, planned, outcomes, judged, now)
    if planned.state == "settling":
        recheck = settled(controller, planned.episode, recheck, now)
    if recheck is not None:
        judgement = judgement._replace(recheck_at=recheck)
    drifted, held = planned.drift.drifted, judged is not None and judged.reason == HOOK_FAILED
    return Case(
        planned.snapshot.target.ref,
        judgement,
        changed=judged is None or differs(judged, judgement),
        moved=judged is None or judged.score != judgement.score,
        condition=own_condition(controller, planned.snapshot.target, judgement),
        events=tuple(events.about(controller, planned, outcomes, held)) if drifted else (),
        plan=planned if drifted else None,
        outcomes=outcomes,
        before=judged,
    )


def judge(
    controller: Controller,
    planned: Planned,
    outcomes: tuple[Outcome, ...],
    judged: Judgement | None,
    now: datetime,
) -> Judgement:
    """Put together what is now known about a resource."""
    target, drift = planned.snapshot.target, planned.drift
    status, reason = VERDICTS[planned.state]
    if drift.reason and planned.state in NAMEABLE:
        reason = drift.reason
    return Judgement(
        resource=target.key,
        generation=target.generation,
        version=target.version,
        basis=planned.basis,
        score=drift.score,
        drifted=drift.drifted,
        status=status,
        reason=reason,
        message=say(controller, planned),
        urgency=drift.urgency,
        dimensions=drift.figures,
        evidence=tuple(written(each) for each in troubling(drift.dimensions)),
        since=judged.since if judged and judged.status == status else now,
        evaluated_at=now,
        episode=remember(planned, outcomes),
        plan=planned.digest,
    )


def settled(
    controller: Controller, episode: Episode, recheck: datetime | None, now: datetime
) -> datetime | None:
    """Return when to look again at a resource whose drift is gone: once it has stayed away."""
    end = next_due(episode.settled_at or now, controller.limits.settling, now)
    return min(end, recheck) if recheck is not None else end


def below(controller: Controller) -> str:
    """Say that all is well."""
    return f"Drift is below {controller.threshold:g}."


def say(controller: Controller, planned: Planned) -> str:
    """Say in one sentence how a resource stands; constant while nothing is wrong with it."""
    if planned.state == "healthy":
        return below(controller)
    if planned.state == "settling":
        return f"Drift is below {controller.threshold:g}, but not for long enough to trust it."
    if planned.state == "unknown":
        return "Nothing has been observed that could be compared."
    if planned.state == "parked":
        return f"{ending(planned.episode)} {planned.explanation}"
    if planned.state == "held":
        names = ", ".join(each.name for each in planned.hooks if not each.passed)
        return f"{planned.explanation} Nothing is planned: {names} does not hold."
    return planned.explanation


def ending(episode: Episode) -> str:
    """Say why nothing more is done, and which other controller it was at odds with."""
    why = ENDINGS.get(episode.reason, "Stopped.")
    return f"{why} {episode.rival} changes it too." if episode.rival else why


def troubling(dimensions: tuple[Dimension, ...]) -> Iterator[tuple[str, Evidence]]:
    """Yield the evidence of every dimension."""
    for dimension in dimensions:
        for each in dimension.evidence:
            yield dimension.name, each


def written(found: tuple[str, Evidence]) -> Document:
    """Write a piece of evidence as plain values."""
    dimension, each = found
    parts = zip(("dimension", *PARTS), (dimension, *each), strict=True)
    return {key: value for key, value in parts if value not in (None, "")}


def remember(planned: Planned, outcomes: tuple[Outcome, ...]) -> Episode:
    """Keep in the episode what was done this time, for the next look to weigh."""
    if not outcomes and not planned.episode.acted and not planned.episode.failed:
        return planned.episode
    changes = [each for each in outcomes if each.action.kind in ("change", "block")]
    acted = any(each.result == "success" for each in changes)
    return planned.episode._replace(
        acted=planned.digest if acted else "",
        failed=any(each.result == "failure" for each in changes),
    )


def differs(judged: Judgement, judgement: Judgement) -> bool:
    """Tell whether a judgement says anything new, besides when it was made."""
    return judgement[FACTS] != judged[FACTS] or judgement[STORY] != judged[STORY]


def own_condition(
    controller: Controller, target: Resource, judgement: Judgement
) -> Condition | None:
    """Write a judgement as the condition its resource shows, if that is news and ours to say."""
    condition = Condition(
        controller.condition_type,
        judgement.status,
        judgement.reason,
        judgement.message,
        controller.ref,
        {"observedGeneration": judgement.generation},
    )
    return conditions.news(target, condition)


def failed(
    controller: Controller,
    snapshot: Snapshot,
    judged: Judgement | None,
    failure: tuple[str, Exception],
    now: datetime,
) -> Case:
    """Conclude about a resource that could not be judged: unknown, and said so."""
    phase, problem = failure
    target, said = snapshot.target, f"{type(problem).__name__}: {problem}"
    judgement = Judgement(
        resource=target.key,
        generation=target.generation,
        version=target.version,
        basis=snapshot.basis,
        score=None,
        drifted=False,
        status="Unknown",
        reason=ERRORS[phase != "diff"],
        message=said,
        urgency="none",
        dimensions={},
        evidence=(),
        since=judged.since if judged and judged.status == "Unknown" else now,
        evaluated_at=now,
        episode=judged.episode if judged else Episode(),
        plan=judged.plan if judged else "",
    )
    return Case(
        target.ref,
        judgement,
        changed=judged is None or differs(judged, judgement),
        moved=judged is not None and judged.score is not None,
        condition=own_condition(controller, target, judgement),
        events=(events.error(controller, target.ref, phase, said),),
        error=said,
        phase=phase,
        failure=problem,
        before=judged,
    )
