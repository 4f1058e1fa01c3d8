"""Calls to machines outside: once their permit is committed, and never after its deadline."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from controllers.decisions import holds
from controllers.execution import results
from controllers.execution.failpoints import failpoint
from controllers.execution.permits import Order
from controllers.execution.results import StepResult
from controllers.models import Step
from controllers.operations import webhooks
from controllers.operations.webhooks import Reply
from resources.documents.actor import SYSTEM
from resources.observability import metrics, spans
from resources.store import store

logger = logging.getLogger("ioa.executing")

Clock = Callable[[], datetime]
ATTEMPTS = 5
# Refusals that say "not now"; without a status nothing was sent.
TRANSIENT = (None, 408, 425, 429)
LATE = StepResult(
    "stopped", "Its permit was over, or holds had changed, before the call was made."
)


def permitted(order: Order, now: datetime) -> bool:
    """Tell whether a call may still be made: in time, and no hold was placed or lifted since."""
    return now < order.deadline and holds.epoch() == order.epoch


def make(order: Order, clock: Clock) -> StepResult:
    """Make a call, once; whether it happened is the answer."""
    failpoint("before the call")
    now = clock()
    if now >= order.deadline:
        return LATE
    began = time.perf_counter()
    with spans.span("call", to=order.endpoint.name, correlation_id=order.story):
        reply = webhooks.call(
            order.endpoint, order.body, key=order.key, deadline=order.deadline, now=now
        )
    failpoint("after the call")
    answer = answered(reply)
    taken = time.perf_counter() - began
    metrics.CALL_SECONDS.labels("endpoint", answer.word).observe(taken)
    return answer


def answered(reply: Reply) -> StepResult:
    """Say what a reply means for the step."""
    result = {"status": reply.status, "detail": reply.detail}
    if reply.ok:
        return StepResult("done", reply.detail, result)
    if not reply.definite:
        return StepResult("unknown", reply.detail, result)
    return StepResult("transient" if reply.status in TRANSIENT else "failed", reply.detail, result)


def record(order: Order, answer: StepResult, now: datetime) -> bool:
    """Write down what became of a call; what is known must not be lost to somebody in the way."""
    for _ in range(ATTEMPTS):
        with suppress(store.Stale):
            return write(order, answer, now)
    raise store.Stale("The result could not be written: others keep changing the same rows.")


def write(order: Order, answer: StepResult, now: datetime) -> bool:
    """Write a result in one transaction, unless its worker was replaced meanwhile."""
    failpoint("before the result")
    with store.all_or_stale():
        proposal = results.mine(order.proposal, order.fence)
        if proposal is None:
            logger.warning("The result of %s came too late.", order.key)
            return False
        step = Step.objects.get(pk=order.step)
        results.settle(proposal, step, answer, SYSTEM, now)
        failpoint("before the result commits")
    failpoint("after the result commits")
    return True
