"""What one cycle adds up to: per phase how many and how long, and the first of what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from controllers.engine.cycle import PHASES, Stopwatch
from controllers.engine.terms import Case, HookResult, Outcome, Renewed
from resources.observability import metrics

# How many hook results and actions a cycle's record keeps; the ledger keeps all.
KEPT = 200
WORDS = {"True": "healthy", "False": "unhealthy", "Unknown": "unknown"}


@dataclass
class Tally:
    """The running sum of a cycle."""

    stopwatch: Stopwatch
    counts: Counter[str] = field(default_factory=Counter)
    hooks: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)

    def add(self, cases: Collection[Case], renewed: Collection[Renewed], read: int) -> None:
        """Count some resources."""
        self.counts["watched"] += read
        if renewed:
            self.counts["judged"] += len(renewed)
            self.counts["healthy"] += len(renewed)
        if changed := sum(each.changed for each in renewed):
            self.counts["changed"] += changed
        for case in cases:
            self.counts["judged"] += 1
            self.counts[WORDS[case.judgement.status]] += 1
            if case.changed:
                self.counts["changed"] += 1
            if case.error:
                self.error(case.phase, f"{case.ref}: {case.error}")
            if case.plan is not None and case.judgement.drifted:
                self.drifted(case)

    def drifted(self, case: Case) -> None:
        """Count what was planned and done about a drifted resource."""
        if case.plan is None:
            return
        self.counts["drifted"] += 1
        self.counts["actions"] += len(case.plan.actions)
        self.counts["held"] += case.plan.state == "held"
        self.counts["parked"] += case.plan.state == "parked"
        for each in case.plan.hooks:
            self.hook(case.ref, each)
        for outcome in case.outcomes:
            self.counts[outcome.result] += 1
            if outcome.result == "failure":
                self.error("act", f"{outcome.action.target}: {outcome.reason}")
            if len(self.outcomes) < KEPT:
                self.outcomes.append(outcome)

    def hook(self, target: str, result: HookResult) -> None:
        """Keep what a hook said."""
        self.counts["hooks"] += 1
        if len(self.hooks) < KEPT:
            self.hooks.append({"target": target, **result._asdict()})

    def error(self, phase: str, message: str) -> None:
        """Keep an error, and count it."""
        self.counts["errors"] += 1
        if len(self.errors) < KEPT:
            self.errors.append((phase, message))

    def fail(self, message: str) -> None:
        """Keep the error that ended the cycle, with the phase it was in."""
        self.error(self.stopwatch.phase, message)

    def times(self) -> dict[str, float]:
        """Return the milliseconds of each phase."""
        self.stopwatch.enter("report")
        return {name: round(self.stopwatch.seconds[name] * 1000, 3) for name in PHASES}

    def publish(self, outcome: str, seconds: float) -> None:
        """Count a cycle whose report is written."""
        metrics.CYCLES.labels(outcome).inc()
        metrics.CYCLE_SECONDS.observe(seconds)
        for phase, taken in self.stopwatch.seconds.items():
            metrics.PHASE_SECONDS.labels(phase).inc(taken)
