"""PLAN: below the threshold nothing; above it hooks, then the actions that would close the gap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from controllers.engine import convergence, hooks
from controllers.engine.document_values import number
from controllers.engine.target import Target
from controllers.engine.terms import (
    Action,
    Class,
    Controller,
    Drift,
    Episode,
    Judgement,
    Planned,
    Snapshot,
    State,
    Step,
    Template,
    Urgency,
)
from resources.documents.canonical import digest

URGENCIES: Sequence[Urgency] = ("none", "low", "medium", "high", "critical")
CLASSES: dict[str, Class] = {
    "log": "record",
    "alert": "notify",
    "escalate": "notify",
    "block": "block",
}


def draft(
    controller: Controller,
    target: Target,
    snapshot: Snapshot,
    drift: Drift,
    judged: Judgement | None,
    now: datetime,
) -> Planned:
    """Decide what is to be done about one resource."""
    basis = snapshot.basis
    episode = convergence.advance(
        judged.episode if judged else Episode(),
        observation(controller, snapshot, drift, judged, basis),
        controller.limits,
        now,
    )
    if not drift.drifted:
        return Planned(snapshot, drift, well(drift, episode), basis, episode)
    planned = Planned(
        snapshot,
        drift,
        "drifted",
        basis,
        episode,
        explanation=target.explain(snapshot, drift),
        news=is_news(drift, judged),
    )
    if episode.parked:
        ended = judged is None or not judged.episode.parked
        return planned._replace(state="parked", news=ended or planned.news)
    checks = hooks.run_before(controller, snapshot, drift, now)
    if not hooks.allows(checks, controller.before):
        return planned._replace(state="held", hooks=checks)
    # While hooks held it back nobody was told.
    tell = planned.news or (judged is not None and judged.reason == hooks.HOOK_FAILED)
    actions = tuple(act_on(controller, target, planned, tell, now))
    return planned._replace(hooks=checks, actions=actions, digest=fingerprint(actions))


def well(drift: Drift, episode: Episode) -> State:
    """Name the state of a resource without drift: nothing known, not for long enough, or well."""
    if drift.score is None:
        return "unknown"
    return "settling" if episode.state == "settling" else "healthy"


def observation(
    controller: Controller,
    snapshot: Snapshot,
    drift: Drift,
    judged: Judgement | None,
    basis: str,
) -> convergence.Observation:
    """Say what this look adds to the story of the drift."""
    if judged is None:
        return convergence.Observation(known(drift), drift.score)
    before, rivals = judged.episode, set(snapshot.changed_by) - {controller.ref}
    # What controllers change is part of the story, not a new beginning.
    anew = judged.generation != snapshot.target.generation and not snapshot.changed_by
    return convergence.Observation(
        drifted=known(drift),
        score=drift.score,
        acted=before.acted,
        failed=before.failed,
        waiting=judged.plan != "" and not before.acted and not before.failed,
        generation_changed=anew,
        outside=anew or judged.basis != basis,
        rival=min(rivals, default=""),
    )


def known(drift: Drift) -> bool | None:
    """Tell whether a resource drifted; None when nothing is known."""
    return None if drift.score is None and not drift.drifted else drift.drifted


def is_news(drift: Drift, judged: Judgement | None) -> bool:
    """Tell whether a drift began, or became more urgent, since the last look."""
    if judged is None or not judged.drifted:
        return True
    return URGENCIES.index(drift.urgency) > URGENCIES.index(judged.urgency)


def act_on(
    controller: Controller, target: Target, planned: Planned, tell: bool, now: datetime
) -> Iterator[Action]:
    """Yield the declared actions in their order, each with its consequences."""
    steps = target.steps(planned.snapshot, planned.drift, now)
    sequence = 0
    for template in controller.on_drift:
        kind = CLASSES.get(template.type, "change")
        if kind in ("record", "notify") and not tell:
            continue
        for step in choose(template, kind, steps, planned):
            sequence += 1
            yield action(template, step, planned, sequence)


def choose(
    template: Template, kind: Class, steps: Sequence[Step], planned: Planned
) -> Sequence[Step]:
    """Pick what a declared action means here: the named operation, or what the kind advises."""
    if kind in ("record", "notify"):
        return (said(template, kind, planned),)
    fitting = [each for each in steps if each.kind in ("change", "block")]
    if template.operation:
        named = [each for each in fitting if each.operation == template.operation]
        # Nothing is blocked unless there is something to block.
        return named[:1] or (() if kind == "block" else (unknown(template, kind, planned),))
    fitting = [each for each in fitting if each.kind == kind]
    return fitting if template.strategy == "immediate" else fitting[:1]


def said(template: Template, kind: Class, planned: Planned) -> Step:
    """Make the step of an action that only tells people."""
    return Step(
        operation=template.operation or template.type,
        parameters=template.parameters,
        kind=kind,
        risk="low",
        reversible=True,
        why=planned.explanation,
        otherwise="Nobody is told.",
    )


def unknown(template: Template, kind: Class, planned: Planned) -> Step:
    """Make the step of an operation the kind does not advise here: of high risk, then."""
    return Step(
        operation=template.operation,
        parameters=template.parameters,
        kind=kind,
        risk="high",
        reversible=False,
        why=planned.explanation,
        otherwise="The drift stays as it is.",
    )


def action(template: Template, step: Step, planned: Planned, sequence: int) -> Action:
    """Turn a step into an action."""
    step = paced(step, template.strategy)
    return Action(
        sequence=sequence,
        type=template.type,
        operation=step.operation,
        kind=step.kind,
        target=planned.snapshot.target.ref,
        parameters={**step.parameters, **template.parameters},
        severity=template.severity,
        channels=template.channels,
        strategy=template.strategy,
        risk=step.risk,
        reversible=step.reversible,
        why=template.reason or step.why,
        otherwise=step.otherwise,
        touches=step.touches,
        rollback=step.rollback,
        preconditions=step.preconditions,
    )


def paced(step: Step, strategy: str) -> Step:
    """Let a step that goes from one figure to another go only as far as its strategy says."""
    start, end = number(step.parameters.get("from")), number(step.parameters.get("to"))
    if start is None or end is None:
        return step
    reached = {"to": convergence.bounded(start, end, strategy)}
    back = step.rollback
    if "parameters" in back:
        back = {**back, "parameters": {**back["parameters"], "from": reached["to"]}}
    return step._replace(parameters={**step.parameters, **reached}, rollback=back)


def fingerprint(actions: Sequence[Action]) -> str:
    """Name a plan by what it would change, so that the same plan is recognised again."""
    changes = [
        [each.target, each.operation, dict(each.parameters)]
        for each in actions
        if each.kind in ("change", "block")
    ]
    return digest(changes) if changes else ""
