"""What people say about a proposal: one function for each answer, one transaction for each call.

A module with an `ANSWER` is an answer: page, API, ledger and reference have it from there.
Every answer names what the person saw. Whoever comes too late is told who was faster; whoever saw
something else is told that it has changed, and `since` says what.
"""

from __future__ import annotations

# The answers are found first: afterwards a verb names what is done, not the module of its answer.
from controllers.decisions.answers import registry
from controllers.decisions.answers.change_and_approve import change
from controllers.decisions.answers.deferral import (
    Rest,
    accept,
    extend,
    request_changes,
    snooze,
    withdraw,
)
from controllers.decisions.answers.overrides import Instead, adopt, override
from controllers.decisions.answers.proposal_answer import ProposalAnswer
from controllers.decisions.answers.registry import ALL, allowed, find, fitting, said_with
from controllers.decisions.answers.revisions import since
from controllers.decisions.answers.undo_and_review import Outcome, resolve, review, undo
from controllers.decisions.answers.votes import approve, break_glass, reject

__all__ = [
    "ALL",
    "Instead",
    "Outcome",
    "ProposalAnswer",
    "Rest",
    "accept",
    "adopt",
    "allowed",
    "approve",
    "break_glass",
    "change",
    "decider_check",
    "extend",
    "find",
    "fitting",
    "override",
    "proposal_answer",
    "registry",
    "reject",
    "request_changes",
    "resolve",
    "review",
    "said_with",
    "since",
    "snooze",
    "undo",
    "votes",
    "withdraw",
]
