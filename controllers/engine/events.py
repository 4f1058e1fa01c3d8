"""What the ledger hears of a cycle, in the seed's spelling."""

from __future__ import annotations

from collections.abc import Iterator

from controllers.engine.terms import Controller, Event, Outcome, Planned, Severity


def about(
    controller: Controller, planned: Planned, outcomes: tuple[Outcome, ...], held: bool
) -> Iterator[Event]:
    """Yield what the ledger must hear about one drifted resource; `held` was told before."""
    if planned.state == "parked":
        if planned.news:
            yield ended(controller, planned)
        return
    if planned.news:
        yield detected(controller, planned)
    for outcome in outcomes:
        if outcome.result != "planned":
            yield performed(controller, outcome)
    if planned.state == "held" and not held:
        failing = [f"{each.name}: {each.reason}" for each in planned.hooks if not each.passed]
        yield error(controller, planned.snapshot.target.ref, "plan", "; ".join(failing))


def detected(controller: Controller, planned: Planned) -> Event:
    """Tell of a drift, and of the plan to close it."""
    subject = planned.snapshot.target.ref
    payload = {
        "controllerName": controller.name,
        "targetResource": subject,
        "driftScore": planned.drift.score,
        "threshold": controller.threshold,
        "causes": list(planned.drift.causes),
        "urgency": planned.drift.urgency,
    }
    plan = {"plan": planned.digest} if planned.digest else {}
    return Event("controller.drift-detected", subject, payload | plan, "alert", "warning")


def ended(controller: Controller, planned: Planned) -> Event:
    """Tell that nothing more is done about a drift."""
    episode, subject = planned.episode, planned.snapshot.target.ref
    payload = {
        "controllerName": controller.name,
        "targetResource": subject,
        "outcome": episode.state,
        "reason": episode.reason,
    }
    rival = {"rival": episode.rival} if episode.rival else {}
    return Event("controller.convergence-ended", subject, payload | rival, "alert", "critical")


def performed(controller: Controller, outcome: Outcome) -> Event:
    """Tell of one action taken."""
    action = outcome.action
    payload = {
        "controllerName": controller.name,
        "actionType": action.type,
        "operation": action.operation,
        "target": action.target,
        "result": outcome.result,
        "why": action.why,
    }
    reason = {"reason": outcome.reason} if outcome.reason else {}
    severity: Severity = "error" if outcome.result == "failure" else "info"
    return Event("controller.action-performed", action.target, payload | reason, severity=severity)


def error(controller: Controller, subject: str, phase: str, message: str) -> Event:
    """Tell of an error during reconciliation."""
    payload = {
        "controllerName": controller.name,
        "phase": phase,
        "targetResource": subject,
        "error": message,
    }
    return Event("controller.error", subject, payload, "alert", "error")
