"""Ask the gate about a proposal as things stand: current rows, current holds, current policy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from controllers import operations
from controllers.decisions import autonomy, holds
from controllers.decisions.autonomy import NOTHING, Earned
from controllers.engine import gate, precedence
from controllers.engine.act import Traits
from controllers.engine.precedence import Reach, Standing
from controllers.engine.terms import Action, Controller, Mode, Ruling
from controllers.models import Proposal, Runtime
from controllers.workqueue import compiled_controllers
from resources.documents import kinds
from resources.tables.models import Resource

# The answers from the one that lets most happen to the one that lets least.
STRICTNESS = ("run", "ask", "recommend", "record", "schedule", "notify", "refuse")
FORBIDDEN = Ruling("refuse", "ControllerGone", "Its controller is gone, or cannot run.")


def examine(
    proposal: Proposal, now: datetime, *, standing: tuple[Standing, ...] | None = None
) -> Ruling:
    """Return the strictest answer to any of a proposal's actions; to undo is asked the same."""
    held = holds.standing(now) if standing is None else standing
    try:
        controller = (
            compiled_controllers.load(proposal.controller_id) if proposal.controller_id else None
        )
    except (Resource.DoesNotExist, compiled_controllers.Invalid):
        return FORBIDDEN
    breaker, earned = breaker_of(proposal), earned_by(controller) if controller else NOTHING
    where = proposal.resource.domain
    rulings = [
        gate.decide(
            question(proposal, action, controller, held, now)._replace(
                breaker=breaker, earned=(action["operation"], where) in earned
            )
        )
        for action in proposal.actions
    ]
    return max(rulings, key=lambda each: STRICTNESS.index(each.word))


def earned_by(controller: Controller) -> Earned:
    """Return what a controller has earned to do alone; without a bar there is nothing to ask."""
    if controller.earns is None:
        return NOTHING
    return autonomy.earned(controller.key, controller.generation)


def question(
    proposal: Proposal,
    action: Mapping[str, Any],
    controller: Controller | None,
    held: tuple[Standing, ...],
    now: datetime,
) -> gate.Question:
    """Put everything about one action before the gate."""
    target = proposal.resource
    known = operations.find(action["operation"])
    labels = target.metadata.get("labels") or {}
    governance = target.spec.get("governance")
    touches = (*action.get("touches", ()), *(known.touches(action["parameters"]) if known else ()))
    reach = Reach(target.pk, target.domain, proposal.controller_id, touches)
    asked = gate.Question(
        kind=action["kind"],
        mode=mode_of(proposal, controller),
        risk=action["risk"],
        reversible=action["reversible"],
        destructive=known is not None and known.destructive,
        redeclares=known is not None and known.redeclares,
        lowers=bool(proposal.policy.get("lowers")),
        hold=precedence.strongest(held, reach),
        managed=labels.get("managed") != "false",
        protected="true" in (labels.get("blessed"), labels.get("protected")),
        requires_approval=isinstance(governance, dict)
        and governance.get("requiresApproval") is True,
        autonomy=proposal.policy.get("autonomy", ""),
        approval=proposal.policy.get("approval", "required"),
    )
    if controller is None:
        return asked
    return asked._replace(
        skip_destructive=controller.skip_destructive,
        window_open=controller.window is None or controller.window(now),
        approval=controller.approval,
    )


def traits(action: Action) -> Traits:
    """Say what the catalogue knows of an action that a controller plans."""
    known = operations.find(action.operation)
    if known is None:
        return Traits(fault=f"Nobody knows the operation {action.operation}.")
    touches = known.touches(action.parameters)
    return Traits(known.destructive, known.redeclares, touches, fault_of(action))


def fault_of(action: Action) -> str:
    """Say why an action cannot be done as it is planned, if it cannot."""
    if action.kind in gate.HARMLESS:
        return ""
    kind, _, name = action.target.partition("/")
    declared = kinds.by_path(kind)
    for problem in operations.check(
        action.operation, dict(action.parameters), declared.name if declared else "", name
    ):
        return f"{action.operation}: {problem.pointer} {problem.message}."
    return ""


def mode_of(proposal: Proposal, controller: Controller | None) -> Mode:
    """Return how far the one who wants it may go: a controller's mode, or what it was filed with.

    Without a controller a person is asked, unless the policy of an agent lets it act alone.
    """
    if controller is not None:
        return controller.mode
    return "enforce" if proposal.policy.get("approval") == "auto" else "warn"


def breaker_of(proposal: Proposal) -> str:
    """Say why a controller is stopped, if its breaker is open."""
    stopped = Runtime.objects.filter(
        controller=proposal.controller_id, breaker=Runtime.Breaker.OPEN
    )
    reason = stopped.values_list("breaker_reason", flat=True).first()
    return "" if reason is None else reason or "Its breaker is open."
