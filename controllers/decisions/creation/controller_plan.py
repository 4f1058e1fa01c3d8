"""What a controller wants after a look at one resource, put together for people to decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from controllers.common.judgement_writes import as_document
from controllers.decisions.creation.plan_diff import RISKS, Lane, Plan
from controllers.engine import digests, gate
from controllers.engine.hooks import HOOK_FAILED
from controllers.engine.terms import Case, Controller, Document, Outcome, Ruling

CHANGES = ("change", "block")
LANES: tuple[Lane, ...] = ("run", "ask", "recommend")


class ProposalDraft(NamedTuple):
    """A plan that is to be proposed, with all that people see of it."""

    case: Case
    plan: Plan
    basis: Document
    reversible: bool
    policy: Document
    cause: str
    # Why it cannot run yet.
    held: str = ""
    held_reason: str = ""

    @property
    def resource(self) -> int:
        """The resource it is about."""
        return self.case.judgement.resource


class Stopped(NamedTuple):
    """What would have been done if a person had not said no."""

    case: Case
    hold: int
    actions: list[dict[str, Any]]
    digest: str


class Wants(NamedTuple):
    """What is to be proposed about one resource, and what is in the way of the rest."""

    plans: tuple[ProposalDraft, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    # Why something is not proposed that was, or will be, wanted.
    waits: Ruling | None = None


def wants(controller: Controller, case: Case) -> Wants:
    """Sort what a controller planned by what the gate said of it."""
    if case.judgement.reason == HOOK_FAILED:
        return Wants(waits=Ruling("refuse", HOOK_FAILED, case.judgement.message))
    lanes: dict[Lane, list[Outcome]] = {}
    waiting: list[Ruling] = []
    held: dict[int, list[Outcome]] = {}
    for outcome, ruling in ruled(case.outcomes):
        lane = lane_of(controller, outcome, ruling)
        if lane is not None:
            lanes.setdefault(lane, []).append(outcome)
        elif ruling.word in ("refuse", "schedule"):
            waiting.append(ruling)
            if ruling.hold is not None:
                held.setdefault(ruling.hold, []).append(outcome)
    plans = (wanted(controller, case, lane, lanes[lane]) for lane in LANES if lane in lanes)
    stops = (stopped(case, hold, found) for hold, found in held.items())
    return Wants(tuple(plans), tuple(stops), waiting[0] if waiting else None)


def ruled(outcomes: Iterable[Outcome]) -> Iterator[tuple[Outcome, Ruling]]:
    """Yield the changes that were not made during the look, with what the gate said of each."""
    for each in outcomes:
        performed = each.result in ("success", "failure")
        if each.action.kind in CHANGES and each.verdict is not None and not performed:
            yield each, each.verdict


def lane_of(controller: Controller, outcome: Outcome, ruling: Ruling) -> Lane | None:
    """Return how an action is proposed; what only waits for a better time needs no proposal yet.

    People may decide ahead of the maintenance window. What would run by itself is looked at
    again when the window is open, and what is too much for one cycle in the next one.
    """
    if ruling.word in LANES:
        return ruling.word
    if ruling.code != "OutsideWindow":
        return None
    action = outcome.action
    risk = (action.risk, action.reversible, controller.approval)
    word = gate.disposition(controller.mode, action.kind, *risk)
    return word if word in ("ask", "recommend") else None


def ending(controller: Controller) -> Document:
    """Say what becomes of a plan that fails half way: it is left, unless it is to be undone."""
    return {"onFailure": "rollback"} if controller.rolls_back else {}


def wanted(
    controller: Controller, case: Case, lane: Lane, outcomes: list[Outcome]
) -> ProposalDraft:
    """Put a plan together from the actions that go the same way."""
    judgement = case.judgement
    actions = [document(each) for each in outcomes]
    rulings = [each.verdict for each in outcomes if each.verdict is not None]
    people = 0 if lane == "run" else max(1, *(each.people for each in rulings))
    policy = {"mode": controller.mode, "approval": controller.approval, "people": people}
    basis = {
        "controller": controller.generation,
        "generation": judgement.generation,
        "related": judgement.basis,
        "policy": policy,
        "reads": digests.reads(judgement.evidence),
    }
    risk = max((each.action.risk for each in outcomes), key=RISKS.index)
    named = (digest_of(case, actions), digests.of_basis(basis))
    later = next((each for each in rulings if each.word == "schedule"), None)
    operations = [each.action.operation for each in outcomes]
    return ProposalDraft(
        case,
        Plan(*named, lane, risk, people, tuple(actions)),
        basis,
        all(each.action.reversible for each in outcomes),
        {**policy, **ending(controller), "code": rulings[0].code, "reason": rulings[0].reason},
        digests.cause(controller.ref, operations, judgement.evidence),
        later.code if later else "",
        later.reason if later else "",
    )


def stopped(case: Case, hold: int, outcomes: list[Outcome]) -> Stopped:
    """Put together what a hold is in the way of."""
    actions = [document(each) for each in outcomes]
    return Stopped(case, hold, actions, digest_of(case, actions))


def digest_of(case: Case, actions: Iterable[Document]) -> str:
    """Name what would be done to the resource of a case."""
    if case.plan is None:
        raise ValueError("Only what drifted has a plan.")
    return digests.of_actions(case.plan.snapshot.target.uid, actions)


def document(outcome: Outcome) -> dict[str, Any]:
    """Write an action as a proposal keeps it: what it touches is said even if it is anything."""
    action = outcome.action
    return as_document(action) | {
        "parameters": dict(action.parameters),
        "touches": list(action.touches),
    }
