"""The gate: may this action happen, and if not at once, what becomes of it and why.

One function answers for the loop, for people, for agents and for every sweep. Guards stand in a
fixed order and the first that refuses wins; after them the mode decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from controllers.engine import precedence
from controllers.engine.precedence import Standing
from controllers.engine.terms import Class, Disposition, Mode, Risk, Ruling

Autonomy = Literal["autonomous", "supervised", "advisory", "reactive", ""]
# Actions that change nothing in the world.
HARMLESS: tuple[Class, ...] = ("record", "notify")

Approval = Literal["required", "auto"]

_TABLE: Mapping[Class, Mapping[Mode, Disposition]] = {
    "record": {"observe": "run", "advise": "run", "warn": "run", "enforce": "run"},
    "notify": {"observe": "record", "advise": "recommend", "warn": "run", "enforce": "run"},
    "change": {"observe": "record", "advise": "recommend", "warn": "ask", "enforce": "ask"},
    # To run a block is to deny. Short of that the operation is allowed and the block is noted;
    # the warning and the alert that go with it are notifications of their own.
    "block": {"observe": "record", "advise": "record", "warn": "record", "enforce": "run"},
}


class Question(NamedTuple):
    """Everything an answer rests on; what is not given stands in nobody's way."""

    kind: Class
    mode: Mode
    risk: Risk = "low"
    reversible: bool = True
    destructive: bool = False
    # Whether it changes what is declared, or takes an agent over.
    redeclares: bool = False
    # Whether it weakens a guard: a mode, a threshold, an alert rule.
    lowers: bool = False
    # The hold that covers what it touches.
    hold: Standing | None = None
    breaker: str = ""
    dry_run: bool = False
    # What was read: all of it, a part, or too long ago.
    snapshot: Literal["full", "partial", "stale"] = "full"
    # Why it cannot be done at all: an operation nobody knows, or without what it needs.
    fault: str = ""
    managed: bool = True
    protected: bool = False
    skip_destructive: bool = False
    # Whether the maintenance window is open; without a window it always is.
    window_open: bool = True
    # How many changes the cycle has left; nothing means as many as it likes.
    actions_left: int | None = None
    approval: Literal["required", "auto"] = "required"
    # Whether the target's own governance asks for a person.
    requires_approval: bool = False
    # How far the one who wants it may go alone.
    autonomy: Autonomy = ""
    # Whether this very operation has earned, in this domain, to run without asking.
    earned: bool = False
    # The first cycle after a hold proposes, whatever its mode lets it do.
    only_propose: bool = False


Guard = Callable[[Question], Ruling | None]


def decide(question: Question) -> Ruling:
    """Answer one question: the first guard that refuses, or what the mode says."""
    if question.kind != "record":
        for guard in GUARDS:
            refused = guard(question)
            if refused is not None:
                return refused
    return by_mode(question)


def _held(*kinds: str) -> Guard:
    def guard(question: Question) -> Ruling | None:
        hold = question.hold
        # A hold stops what changes things; people are still told.
        if hold is None or hold.kind not in kinds or question.kind in HARMLESS:
            return None
        return Ruling("refuse", CODES[hold.kind], precedence.sentence(hold), hold=hold.key)

    return guard


def _broken(question: Question) -> Ruling | None:
    return Ruling("refuse", "BreakerOpen", question.breaker) if question.breaker else None


def _dry(question: Question) -> Ruling | None:
    if question.dry_run:
        return Ruling("record", "DryRun", "Nothing is done in a dry run.")
    return None


def _unsure(question: Question) -> Ruling | None:
    if question.snapshot == "full" or question.kind in HARMLESS:
        return None
    said = "only a part" if question.snapshot == "partial" else "what was seen too long ago"
    return Ruling("refuse", f"Snapshot{question.snapshot.title()}", f"It rests on {said}.")


def _unfit(question: Question) -> Ruling | None:
    if question.fault and question.kind not in HARMLESS:
        return Ruling("refuse", "Unfit", question.fault)
    return None


def _unmanaged(question: Question) -> Ruling | None:
    if question.managed or question.kind in HARMLESS:
        return None
    return Ruling("notify", "Unmanaged", "Nobody has put it under control: people are told.")


def _protected(question: Question) -> Ruling | None:
    if question.protected and (question.destructive or not question.reversible):
        return Ruling("notify", "Protected", "It is protected: people are told instead.")
    return None


def _skipped(question: Question) -> Ruling | None:
    if question.skip_destructive and question.destructive:
        return Ruling("refuse", "SkipDestructive", "The controller skips what destroys.")
    return None


def _closed(question: Question) -> Ruling | None:
    if question.window_open or question.kind in HARMLESS:
        return None
    said = "It waits for the maintenance window."
    # People may decide ahead of it, and no fewer than in it.
    return Ruling("schedule", "OutsideWindow", said, people(question))


def _spent(question: Question) -> Ruling | None:
    if question.actions_left is None or question.actions_left > 0 or question.kind in HARMLESS:
        return None
    said = "The controller has made as many changes as one cycle may."
    return Ruling("schedule", "MaxActionsPerCycle", said)


CODES: Mapping[str, str] = {
    "stop": "StoppedAll",
    "freeze": "Frozen",
    "pause": "Paused",
    "override": "Overridden",
}
GUARDS: Sequence[Guard] = (
    _held("stop"),
    _held("freeze"),
    _held("pause"),
    _held("override"),
    _broken,
    _dry,
    _unsure,
    _unfit,
    _unmanaged,
    _protected,
    _skipped,
    _closed,
    _spent,
)


def by_mode(question: Question) -> Ruling:
    """Answer by the mode table, and by what the target and the one who wants it ask for."""
    strict = (
        question.requires_approval
        or question.only_propose
        or question.autonomy in ("supervised", "advisory")
    )
    word = disposition(
        question.mode,
        question.kind,
        question.risk,
        question.reversible and not (question.destructive or grave(question)),
        "required" if strict else question.approval,
    )
    if question.autonomy == "advisory" and word in ("ask", "run") and question.kind == "change":
        word = "recommend"
    if word == "ask" and not strict and trusted(question):
        return Ruling("run", EARNED, "It has earned to do this without asking.")
    if word in ("ask", "recommend"):
        return Ruling(
            word, f"Mode{question.mode.title()}", _asked(question, word), people(question)
        )
    return Ruling(word, f"Mode{question.mode.title()}", WORDS[word])


# Why something ran that people would be asked about otherwise.
EARNED = "Earned"
WORDS: Mapping[str, str] = {
    "run": "The policy lets it run.",
    "record": "It is only noted: the controller observes.",
}


def trusted(question: Question) -> bool:
    """Tell whether what was earned reaches this far: a small change that can be taken back."""
    small = question.kind == "change" and question.risk == "low" and question.reversible
    return question.earned and small and not (question.destructive or grave(question))


def people(question: Question) -> int:
    """Return how many people have to approve."""
    return 2 if grave(question) or question.destructive or not question.reversible else 1


def grave(question: Question) -> bool:
    """Tell whether an action changes what is declared, or weakens a guard."""
    return question.redeclares or question.lowers


def _asked(question: Question, word: str) -> str:
    if word == "recommend":
        return "It is recommended: people may adopt it."
    if question.requires_approval:
        return "What it changes asks for a person's approval."
    return (
        "Two people have to approve it." if people(question) > 1 else "A person has to approve it."
    )


def disposition(
    mode: Mode, action_class: Class, risk: Risk, reversible: bool, approval: Approval
) -> Disposition:
    """Say what becomes of an action; `approval` is the stricter of controller's and target's."""
    if (
        action_class == "change"
        and mode == "enforce"
        and approval == "auto"
        and risk == "low"
        and reversible
    ):
        return "run"
    return _TABLE[action_class][mode]
