"""What a new look makes of an open proposal: one table, and nothing else decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from controllers.engine.proposal_lifecycle import State
from controllers.engine.terms import Document, Risk

Lane = Literal["run", "ask", "recommend"]
Change = Literal["confirm", "revise_keeping_votes", "revise", "shrink", "supersede", "converge"]

RISKS: Sequence[Risk] = ("low", "medium", "high")
# It is being carried out, or was: a new plan leaves it alone.
UNDER_WAY: Sequence[State] = ("executing", "verifying", "unknown")


class Plan(NamedTuple):
    """What is to be done, why, on whose word, and at what risk."""

    digest: str
    basis: str
    lane: Lane
    risk: Risk
    people: int
    actions: tuple[Document, ...] = ()
    # Whether a person changed what was planned, so that the actions are no longer the planner's.
    edited: bool = False


def compare(state: State, standing: Plan, wanted: Plan | None) -> Change:
    """Say what becomes of an open proposal; without drift nothing is wanted."""
    if state in UNDER_WAY:
        return "confirm"
    if wanted is None:
        return "converge"
    if wanted.lane != standing.lane or wanted.people > standing.people:
        return "supersede"
    rose = RISKS.index(wanted.risk) > RISKS.index(standing.risk)
    if wanted.digest == standing.digest:
        if rose:
            return "revise"
        return "confirm" if wanted.basis == standing.basis else "revise_keeping_votes"
    if rose or standing.edited or not is_part(wanted.actions, standing.actions):
        return "supersede"
    return "shrink"


def is_part(some: Sequence[Document], all_of_it: Sequence[Document]) -> bool:
    """Tell whether actions are some, but not all, of others, in the same order."""
    rest = iter([step(each) for each in all_of_it])
    return 0 < len(some) < len(all_of_it) and all(step(each) in rest for each in some)


def step(action: Document) -> tuple[Any, ...]:
    """Return what makes an action the same as another."""
    return action["operation"], action.get("parameters", {}), sorted(action.get("touches", ()))
