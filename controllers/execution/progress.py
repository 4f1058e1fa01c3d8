"""How far work has come, in the words of whoever does it: quoted, and never an instruction."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from controllers.common.quotation import harmless
from controllers.decisions import proposals
from controllers.execution import steps
from controllers.models import Proposal, Step

# The ledger hears of the same step no more often than this.
TOLD_EVERY = timedelta(seconds=5)
LONGEST_NOTE = 200
ALL = 100


class Progress(NamedTuple):
    """How far somebody says to be: percent of the whole, and a short sentence."""

    percent: int | None = None
    note: str = ""


def note(proposal: Proposal, step: Step, progress: Progress, now: datetime) -> None:
    """Write down how far a step is; people are told now and then, and when it is all done."""
    percent = step.percent if progress.percent is None else progress.percent
    said = harmless(progress.note)[: Step._meta.get_field("note").max_length]
    if (percent, said) == (step.percent, step.note):
        return
    steps.change(step, percent=percent, note=said)
    if step.noted_at is None or percent == ALL or now - step.noted_at >= TOLD_EVERY:
        steps.change(step, noted_at=now)
        told = {"sequence": step.sequence, "operation": step.operation}
        figures = {"percent": percent, "note": said}
        actor = steps.doer(step)
        proposals.tell(proposal, "progressed", actor=actor, now=now, payload=told | figures)
