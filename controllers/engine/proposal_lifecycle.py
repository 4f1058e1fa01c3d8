"""A proposal's life: which verb leads from which state to which, as one table.

Verbs of people and verbs of the product share the table, so that nothing can happen to a proposal
that is not written here. An answer that the specification does not know declares its own line.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal, NamedTuple, NewType, get_args

from resources.documents.problems import refused

State = Literal[
    "recommended",
    "pending",
    "approved",
    "executing",
    "verifying",
    "succeeded",
    "failed",
    "unknown",
    "rejected",
    "changes_requested",
    "expired",
    "lapsed",
    "superseded",
    "converged",
    "overridden",
    "withdrawn",
    "skipped",
    "rolled_back",
]
# What people say; each is also a verb of the API.
Answer = Literal[
    "approve",
    "reject",
    "change",
    "override",
    "adopt",
    "accept",
    "snooze",
    "request_changes",
    "withdraw",
    "undo",
    "break_glass",
    "extend",
    "resolve",
]
# What happens by itself: by the loop, the clock or the executor.
Event = Literal[
    "vote",
    "revise",
    "confirm",
    "supersede",
    "converge",
    "expire",
    "claim",
    "lapse",
    "skip",
    "stop",
    "retry",
    "finish",
    "fail",
    "lose",
    "verify",
    "roll_back",
]
# An answer with a line of its own: `declare` returns it.
Declared = NewType("Declared", str)
Verb = Answer | Event | Declared
# Where a verb leads: to a state, or nowhere else.
Led = State | Literal["same"]

STATES: tuple[State, ...] = get_args(State)
ANSWERS: tuple[Answer, ...] = get_args(Answer)
EVENTS: tuple[Event, ...] = get_args(Event)

# Nobody has decided yet.
WAITING: tuple[State, ...] = ("recommended", "pending")
# It may still bring something about: of these there is one for each plan.
OPEN: tuple[State, ...] = (
    *WAITING,
    "changes_requested",
    "approved",
    "executing",
    "verifying",
    "unknown",
)
# It has brought something about that can be taken back.
DONE: tuple[State, ...] = ("verifying", "succeeded", "failed")
CLOSED: tuple[State, ...] = tuple(state for state in STATES if state not in OPEN)

# How long people may take to decide, and how long what they approved may take to begin, by risk.
WAITS: Mapping[str, timedelta] = {
    "low": timedelta(days=7),
    "medium": timedelta(days=3),
    "high": timedelta(hours=24),
}
LAPSES: Mapping[str, timedelta] = {
    "low": timedelta(hours=24),
    "medium": timedelta(hours=4),
    "high": timedelta(minutes=15),
}
# No answer keeps a proposal waiting, or out of sight, for longer than this.
LONGEST_WAIT = timedelta(days=30)
# How long something done can be undone, and how soon broken glass is looked at.
UNDO_WINDOW = timedelta(hours=24)
REVIEW_WITHIN = timedelta(hours=1)

_WAITING: Mapping[str, Led] = {
    "vote": "same",
    "approve": "approved",
    "break_glass": "approved",
    "reject": "rejected",
    "change": "pending",
    "override": "overridden",
    "adopt": "converged",
    "accept": "rejected",
    "snooze": "same",
    "request_changes": "changes_requested",
    "withdraw": "withdrawn",
    "extend": "same",
    "revise": "same",
    "confirm": "same",
    "supersede": "superseded",
    "converge": "converged",
    "expire": "expired",
    "skip": "skipped",
}
_TABLE: Mapping[State, Mapping[str, Led]] = {
    "recommended": _WAITING,
    "pending": _WAITING,
    "changes_requested": {
        "withdraw": "withdrawn",
        "change": "pending",
        "revise": "pending",
        "confirm": "same",
        "override": "overridden",
        "supersede": "superseded",
        "converge": "converged",
        "expire": "expired",
        "skip": "skipped",
    },
    # What is decided is not rejected any more: it is taken back, or something else is done.
    "approved": {
        "override": "overridden",
        "withdraw": "withdrawn",
        "revise": "pending",
        "confirm": "same",
        "supersede": "superseded",
        "converge": "converged",
        "claim": "executing",
        "lapse": "lapsed",
        "skip": "skipped",
    },
    "executing": {
        "override": "overridden",
        "confirm": "same",
        "finish": "verifying",
        "fail": "failed",
        "retry": "approved",
        "stop": "approved",
        "lose": "unknown",
        "skip": "skipped",
        "supersede": "superseded",
        "converge": "converged",
        "roll_back": "rolled_back",
    },
    "verifying": {"confirm": "same", "verify": "succeeded", "fail": "failed", "undo": "approved"},
    "unknown": {
        "confirm": "same",
        "resolve": "verifying",
        "verify": "succeeded",
        "fail": "failed",
        "retry": "approved",
        "roll_back": "rolled_back",
    },
    "succeeded": {"undo": "approved"},
    "failed": {"undo": "approved"},
}


# How the ledger names what happened.
TOLD: Mapping[str, str] = {
    "approve": "approved",
    "reject": "rejected",
    "change": "changed",
    "override": "overridden",
    "adopt": "adopted",
    "accept": "accepted",
    "snooze": "snoozed",
    "request_changes": "changes-requested",
    "withdraw": "withdrawn",
    "undo": "undo-requested",
    "break_glass": "glass-broken",
    "extend": "extended",
    "resolve": "resolved",
    "review": "reviewed",
    "vote": "voted",
    "revise": "revised",
    "confirm": "confirmed",
    "supersede": "superseded",
    "converge": "converged",
    "expire": "expired",
    "claim": "begun",
    "lapse": "lapsed",
    "skip": "skipped",
    "stop": "stopped",
    "retry": "retried",
    "finish": "executed",
    "fail": "failed",
    "lose": "lost",
    "verify": "verified",
    "roll_back": "rolled-back",
}
# How a refusal names what was tried.
PAST: Mapping[str, str] = {
    "approve": "approved",
    "reject": "rejected",
    "change": "changed",
    "override": "overridden",
    "adopt": "adopted into the spec",
    "accept": "accepted as it is",
    "snooze": "snoozed",
    "request_changes": "sent back for changes",
    "withdraw": "withdrawn",
    "undo": "undone",
    "break_glass": "approved by breaking the glass",
    "extend": "extended",
    "resolve": "resolved",
}


class DeclaredAnswer(NamedTuple):
    """What a declared answer says of itself: where it leads, and how it is named afterwards."""

    leads: Mapping[State, Led]
    told: str
    past: str


_DECLARED: dict[str, DeclaredAnswer] = {}


def declare(verb: str, leads: Mapping[State, Led], *, past: str, told: str = "") -> Declared:
    """Add an answer to the table: where it leads from each state it fits.

    `past` is how a refusal names it, `told` how the ledger does. What the specification says of a
    verb stays as it is, what is over stays over, and people lead only where its answers lead.
    """
    line = DeclaredAnswer(dict(leads), told or past.replace(" ", "-"), past)
    names = {*TOLD.values(), *(each.told for name, each in _DECLARED.items() if name != verb)}
    if verb in TOLD or _DECLARED.get(verb, line) != line or line.told in names:
        raise ValueError(f"There is another answer like {verb}.")
    reached = {"same", *(_led(state, each) for state in WAITING for each in ANSWERS)}
    for state, led in leads.items():
        if state not in STATES or led not in (("same",) if state in CLOSED else reached):
            raise ValueError(f"{verb} cannot lead from {state} to {led}.")
    _DECLARED[verb] = line
    return Declared(verb)


def _led(state: State, verb: str) -> Led | None:
    """Return where a verb leads from a state, or nothing where it does not fit."""
    if verb in _DECLARED:
        return _DECLARED[verb].leads.get(state)
    return _TABLE.get(state, {}).get(verb)


def after(state: State, verb: Verb) -> State:
    """Return the state a verb leads to; one that does not fit is refused."""
    led = _led(state, verb)
    if led is None:
        raise refused(misfit(state, verb), allowed=list(answers(state)))
    return state if led == "same" else led


def misfit(state: State, verb: Verb) -> str:
    """Say that a verb does not fit a state."""
    return f"A proposal that is {state.replace('_', ' ')} cannot be {past(verb)}."


def allows(state: State, verb: str) -> bool:
    """Tell whether a verb fits a state."""
    return _led(state, verb) is not None


def answers(state: State) -> tuple[Answer | Declared, ...]:
    """Return what people may say about a proposal in a state."""
    known = (*ANSWERS, *map(Declared, _DECLARED))
    return tuple(verb for verb in known if allows(state, verb))


def sources(verb: Verb) -> tuple[State, ...]:
    """Return the states a verb fits."""
    return tuple(state for state in STATES if allows(state, verb))


def starts(verb: str) -> bool:
    """Tell whether an answer lets something happen that waited for people."""
    answers = verb in ANSWERS or verb in _DECLARED
    return answers and any(_led(state, verb) in ("approved", "converged") for state in WAITING)


def told(verb: str) -> str:
    """Return how the ledger names what happened."""
    line = _DECLARED.get(verb)
    return line.told if line else TOLD.get(verb, verb).replace("_", "-")


def past(verb: str) -> str:
    """Return how a refusal names what was tried."""
    line = _DECLARED.get(verb)
    return line.past if line else PAST.get(verb, verb)
