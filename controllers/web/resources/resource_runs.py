"""The last runs of a workflow, with their steps; what agents wrote is quoted and harmless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.urls import reverse

from controllers.models import RunStep, WorkflowRun
from controllers.narrative.proposal_text import Word
from controllers.workflows.runs.quotation import harmless
from resources.tables.models import Resource

LATEST = 5
RUNS: Mapping[str, Word] = {
    "idle": Word("Idle"),
    "queued": Word("Queued", "", "clock"),
    "executing": Word("Running", "accent", "play"),
    "blocked": Word("Waits for people", "warn", "hand"),
    "completed": Word("Completed", "ok", "circle-check"),
    "failed": Word("Failed", "danger", "circle-alert"),
    "compensating": Word("Being undone", "warn", "undo-2"),
}
STEPS: Mapping[str, Word] = {
    "pending": Word("waiting", "", "clock"),
    "running": Word("running", "accent", "play"),
    "completed": Word("completed", "ok", "check"),
    "failed": Word("failed", "danger", "x"),
    "skipped": Word("skipped", "", "arrow-right"),
}
# How a run ended, where it says more than its state.
OUTCOMES: Mapping[str, Word] = {
    "compensated": Word("Undone", "human", "undo-2"),
    "partial": Word("Undone in part", "danger", "circle-alert"),
    "cancelled": Word("Cancelled", "human", "hand"),
    "timeout": Word("Took too long", "danger", "clock"),
    "governance": Word("Not let go on", "human", "hand"),
}


@dataclass(frozen=True)
class ToldStep:
    """One step in words."""

    step: RunStep

    @property
    def name(self) -> str:
        """What it is called."""
        return f"undo {self.step.name}" if self.step.undoes else self.step.name

    @property
    def state(self) -> Word:
        """How it stands; a gate that is open waits for people."""
        if self.step.gate and self.step.state == "running":
            return Word("waits for people", "warn", "hand")
        return STEPS[self.step.state]

    @property
    def url(self) -> str:
        """Where people are asked about it."""
        return reverse("proposal", args=[self.step.proposal_id]) if self.step.proposal_id else ""


@dataclass(frozen=True)
class ToldRun:
    """One run in words."""

    run: WorkflowRun
    steps: list[ToldStep]

    @property
    def state(self) -> Word:
        """How it stands, or ended."""
        return OUTCOMES.get(self.run.outcome) or RUNS[self.run.state]

    @property
    def by(self) -> str:
        """Who started it."""
        return self.run.started_by.partition("/")[2]

    @property
    def at(self) -> datetime:
        """When it was asked for."""
        return self.run.created_at

    @cached_property
    def quote(self) -> str:
        """What went wrong, in the words of whoever said it."""
        said = self.run.reason or next(
            (each.step.error for each in reversed(self.steps) if each.step.error), ""
        )
        return harmless(said)

    @property
    def trace(self) -> str:
        """Where its whole story is."""
        return reverse("trace", args=[self.run.correlation_id])


def of(row: Resource) -> list[ToldRun]:
    """Tell the last runs of a workflow: two questions, however many there are."""
    runs = list(WorkflowRun.objects.filter(workflow=row.pk).order_by("-pk")[:LATEST])
    steps: dict[int, list[ToldStep]] = {each.pk: [] for each in runs}
    for step in RunStep.objects.filter(run__in=runs).order_by("number"):
        steps[step.run_id].append(ToldStep(step))
    return [ToldRun(each, steps[each.pk]) for each in runs]
