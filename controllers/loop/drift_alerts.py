"""What people are told about resources once a chunk is judged, and what is over."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from controllers.engine.report import ERRORS, VERDICTS
from controllers.engine.terms import Case, Judgement
from controllers.notifications import alerts
from controllers.workqueue.cycle_effects import Notice
from controllers.workqueue.queue import Failure

# Why people are told of a resource: it is no longer tried, or no longer acted on.
PARKED, STOPPED = "Parked", VERDICTS["parked"][1]


def resolve(controller: int, cases: Iterable[Case], now: datetime) -> None:
    """End the alerts that are over: all about what is well, and those whose reason has gone."""
    changed = [
        (case, case.before)
        for case in cases
        if case.before is not None and case.before.reason != case.judgement.reason
    ]
    well = [case.judgement.resource for case, _ in changed if case.judgement.status == "True"]
    alerts.resolve(controller, well, now)
    alerts.resolve(controller, no_longer(changed, ERRORS), now, {PARKED})
    alerts.resolve(controller, no_longer(changed, (STOPPED,)), now, {STOPPED})


def no_longer(changed: Iterable[tuple[Case, Judgement]], reasons: Collection[str]) -> list[int]:
    """Return the resources that were in one of these ways, and are so no more."""
    return [
        case.judgement.resource
        for case, before in changed
        if before.reason in reasons and case.judgement.reason not in reasons
    ]


def stopped(cases: Iterable[Case]) -> list[Notice]:
    """Tell people of a drift that nothing more is done about."""
    return [
        Notice(
            case.judgement.resource,
            STOPPED,
            "",
            "critical",
            f"{case.ref}: {case.judgement.message}",
        )
        for case in cases
        if case.plan is not None and case.plan.state == "parked" and case.plan.news
    ]


def parked(failures: Iterable[Failure], cases: Iterable[Case]) -> list[Notice]:
    """Tell people of what will not be tried again until somebody changes it."""
    names = {case.judgement.resource: case.ref for case in cases}
    return [
        Notice(
            each.resource, PARKED, "", "error", f"{names[each.resource]} is parked: {each.error}"
        )
        for each in failures
        if each.verdict.parked
    ]
