"""Proposals come about here: from a controller's plan, an agent's request or a person's wish.

A look at a chunk of resources is held against what is already proposed, and only what differs is
written: new plans, revisions, what took another's place, what has nothing left to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from controllers.decisions.creation.proposal_end import close_gone
from controllers.decisions.creation.proposal_refresh import CycleContext, weigh
from controllers.decisions.creation.proposal_writer import write
from controllers.decisions.creation.reproposal import repropose
from controllers.decisions.creation.submission import Filed, Filing, propose, revise
from controllers.engine.terms import Case, Renewed
from controllers.models import Proposal

__all__ = [
    "Filed",
    "Filing",
    "attention_budget",
    "close_gone",
    "controller_plan",
    "differs",
    "draft",
    "let_go",
    "proposal_end",
    "proposal_refresh",
    "propose",
    "refresh",
    "reproposal",
    "repropose",
    "revise",
    "submission",
]


def refresh(
    look: CycleContext, cases: Sequence[Case], renewed: Sequence[Renewed], now: datetime
) -> None:
    """Write what a look at some resources means for what is proposed about them.

    It belongs into the transaction of the chunk, before its resources are written: whoever
    decides takes the proposal first, too.
    """
    changes = weigh(look, cases, renewed, now)
    if changes:
        write(look, changes, now)


def let_go(look: CycleContext, released: Sequence[int], now: datetime) -> None:
    """Close what is proposed about resources that a controller no longer looks after."""
    if released:
        found = Proposal.objects.filter(controller=look.controller.key, resource__in=released)
        close_gone(found, f"{look.actor} no longer looks after it.", now)


def differs(
    look: CycleContext, cases: Sequence[Case], renewed: Sequence[Renewed], now: datetime
) -> bool:
    """Tell whether there would be anything to write."""
    return bool(weigh(look, cases, renewed, now))
