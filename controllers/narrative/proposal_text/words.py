"""One word for each state, risk, mode and answer, with the sign that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from controllers.decisions import answers
from controllers.engine.proposal_lifecycle import OPEN, WAITING
from controllers.models import Proposal


class Word(NamedTuple):
    """A word, its tone, and an icon: never the colour alone."""

    text: str
    tone: str = ""
    icon: str = ""


class Mode(NamedTuple):
    """How far a controller goes: its name, what that means, and a sign."""

    name: str
    short: str
    meaning: str
    tone: str
    icon: str


STATES: Mapping[str, Word] = {
    "recommended": Word("Suggested", "", "lightbulb"),
    "pending": Word("Open", "accent", "inbox"),
    "approved": Word("Approved", "ok", "check"),
    "executing": Word("Running", "accent", "play"),
    "verifying": Word("Done, being checked", "accent", "refresh-cw"),
    "succeeded": Word("Done", "ok", "circle-check"),
    "failed": Word("Failed", "danger", "circle-alert"),
    "unknown": Word("Outcome not known", "danger", "circle-help"),
    "rejected": Word("Rejected", "danger", "x"),
    "changes_requested": Word("Sent back", "human", "pencil-line"),
    "expired": Word("Lapsed", "warn", "clock"),
    "lapsed": Word("Lapsed", "warn", "clock"),
    "superseded": Word("Replaced", "", "arrow-right"),
    "converged": Word("Solved by itself", "ok", "circle-check"),
    "overridden": Word("Overridden", "human", "hand"),
    "withdrawn": Word("Withdrawn", "", "undo-2"),
    "skipped": Word("Skipped", "", "x"),
    "rolled_back": Word("Rolled back", "human", "undo-2"),
}
SNOOZED = Word("Snoozed", "", "alarm-clock")
UNDOING = Word("Being undone", "human", "undo-2")
LATE = STATES["expired"]

RISKS: Mapping[str, str] = {"low": "Low", "medium": "Medium", "high": "High"}
MODES: Mapping[str, Mode] = {
    "enforce": Mode(
        "Enforce",
        "Acts on its own",
        "Acts on its own up to its risk limit, blocks what breaks the spec, asks above the limit.",
        "accent",
        "gavel",
    ),
    "warn": Mode(
        "Warn",
        "Asks first",
        "Alerts and asks; nothing changes until someone approves.",
        "line",
        "megaphone",
    ),
    "advise": Mode(
        "Advise",
        "Suggests",
        "Leaves a suggestion on the resource; no alert.",
        "line",
        "lightbulb",
    ),
    "observe": Mode("Observe", "Watches", "Measures and logs.", "line", "eye"),
}
STEPS: Mapping[str, Word] = {
    "waiting": Word("Waiting", "", "clock"),
    "claimed": Word("Running", "accent", "play"),
    "dispatched": Word("Running", "accent", "play"),
    "done": Word("Done", "ok", "check"),
    "failed": Word("Failed", "danger", "circle-alert"),
    "unknown": Word("Outcome not known", "danger", "circle-help"),
    "skipped": Word("Skipped", "", "x"),
    "undone": Word("Undone", "human", "undo-2"),
}


def state(proposal: Proposal, now: datetime, votes: int = 0, people: int = 0) -> Word:
    """Say how a proposal stands; `votes` counts those given while more are needed."""
    waits = proposal.state in WAITING
    if waits and proposal.expires_at <= now:
        return LATE
    if waits and proposal.quiet_until is not None and proposal.quiet_until > now:
        return SNOOZED
    if proposal.undoing and proposal.state in OPEN:
        return UNDOING
    if waits and votes:
        needed = max(proposal.people, people)
        return Word(f"Approved ({votes} of {needed})", "human", "check")
    said = answers.said_with(proposal.answer)
    if said and said.state_word and proposal.state not in OPEN:
        return Word(*said.state_word)
    return STATES[proposal.state]


def mode(name: str) -> Mode:
    """Say how far the one who proposes goes."""
    return MODES.get(name, MODES["warn"])


def answered(answer: str) -> str:
    """Say what somebody did, after their name."""
    said = answers.said_with(answer)
    return said.answered if said else answer.replace("_", " ")
