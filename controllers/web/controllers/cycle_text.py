"""What a cycle found and did, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from controllers import operations
from controllers.engine.cycle import PHASES
from controllers.models import Cycle, WorkItem
from resources.documents.kind import Kind

# How a strip of cycles draws each outcome.
STRIP: Mapping[str, str] = {
    "": "none",
    "converged": "ok",
    "drift_reported": "drift",
    "acted": "drift",
    "hook_skipped": "drift",
    "partial": "failed",
    "failed": "failed",
    "timed_out": "failed",
    "lost": "failed",
    "superseded": "paused",
    "interrupted": "paused",
}
STRIP_WORDS: Mapping[str, str] = {
    "ok": "on target",
    "drift": "found drift",
    "failed": "failed",
    "paused": "cut off",
    "none": "running",
}
OUTCOMES: Mapping[str, str] = {
    "": "Running",
    "converged": "All on target",
    "drift_reported": "Drift found",
    "acted": "Acted",
    "hook_skipped": "A check stopped the plan",
    "partial": "Partly failed",
    "failed": "Failed",
    "timed_out": "Took too long",
    "lost": "Its worker was lost",
    "superseded": "Cut off: declared anew",
    "interrupted": "Cut off",
}
TONES: Mapping[str, str] = {
    "ok": "ok",
    "drift": "warn",
    "failed": "danger",
    "paused": "info",
    "none": "accent",
}
# What became of a step that was not done in the cycle itself, by what the gate said.
LATER: Mapping[str, str] = {
    "": "let run by policy",
    "ask": "for people to decide",
    "recommend": "suggested",
    "record": "only noted",
    "notify": "told instead of done",
    "schedule": "put off",
    "refuse": "stopped",
}
RESULTS: Mapping[str, str] = {"success": "done", "failure": "failed", "skipped": "skipped"}
REASONS: Mapping[int, str] = {
    WorkItem.Reason.CHANGE: "something changed",
    WorkItem.Reason.INTERVAL: "its interval was over",
    WorkItem.Reason.MANUAL: "a person asked",
    WorkItem.Reason.DEPENDENCY: "something it rests on changed",
    WorkItem.Reason.RETRY: "it was tried again",
    WorkItem.Reason.APPROVAL: "a decision was made",
}
MILLISECOND, SHORT, LONG = 1.0, 100.0, 10_000.0


def took(milliseconds: float) -> str:
    """Say how long something took: "45 ms", "0.17 s", "12 s"."""
    if milliseconds < MILLISECOND:
        return "under 1 ms"
    if milliseconds < SHORT:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.0f} s" if milliseconds >= LONG else f"{seconds:.2f} s"


def lasted(cycle: Cycle) -> str:
    """Say how long a cycle took; nothing while it runs."""
    if cycle.finished_at is None:
        return ""
    return took((cycle.finished_at - cycle.started_at).total_seconds() * 1000)


def noun(kind: Kind | None, number: int) -> str:
    """Name what a controller watches, as many as there are."""
    one, several = (kind.title, kind.plural) if kind else ("resource", "resources")
    return some(number, one, several).lower()


def some(number: int, one: str, several: str) -> str:
    """Choose the words for a number."""
    return one if number == 1 else several


def tallied(counts: Mapping[str, int]) -> str:
    """Join counts in words: "8 done, 3 suggested"."""
    return ", ".join(f"{number:,} {word}" for word, number in counts.items() if number)


def steps(cycle: Cycle) -> dict[str, int]:
    """Count what became of the steps, in words; where they were too many to list, in short."""
    counts = cycle.counts
    if counts.get("actions", 0) > len(cycle.actions):
        return short(counts)
    return dict(Counter(result_of(each) for each in cycle.actions))


def short(counts: Mapping[str, int]) -> dict[str, int]:
    """Count what became of the steps from the sums alone."""
    words = {**RESULTS, "planned": "planned"}
    return {word: counts.get(name, 0) for name, word in words.items()}


def result_of(action: Mapping[str, Any]) -> str:
    """Say what became of one step."""
    if action["result"] in RESULTS:
        return RESULTS[action["result"]]
    return LATER.get(action["reason"], "planned")


def sentence(cycle: Cycle) -> str:
    """Say in a few words what a cycle came to, from its sums alone."""
    counts = cycle.counts
    said = OUTCOMES.get(cycle.outcome, cycle.outcome)
    if cycle.outcome == "converged" and not cycle.full:
        said = "What changed is on target"
    if STRIP.get(cycle.outcome) == "drift":
        drifted = counts.get("drifted", 0)
        said = ", ".join(filter(None, (f"{drifted:,} drifting", tallied(short(counts)))))
    return f"{said}: {cycle.error}" if cycle.error else said


@dataclass(frozen=True)
class Phase:
    """One of the five phases of a cycle: how many, and what of them."""

    title: str
    count: int
    text: str
    took: str
    hot: bool


def phases(cycle: Cycle, kind: Kind | None) -> list[Phase]:
    """Tell a cycle phase by phase."""
    counts, done = cycle.counts, steps(cycle)
    drifted, unknown = counts.get("drifted", 0), counts.get("unknown", 0)
    off = {"above the limit": drifted, "not known": unknown}
    rest = {word: number for word, number in done.items() if word != "done"}
    watched, actions, changed = (counts.get(name, 0) for name in ("watched", "actions", "changed"))
    told: dict[str, tuple[int, str]] = {
        "watch": (watched, f"{noun(kind, watched)} read"),
        "diff": (counts.get("judged", 0), tallied(off) or "compared, none off"),
        "plan": (actions, some(actions, "step planned", "steps planned")),
        "act": (done.get("done", 0), ", ".join(filter(None, ("done", tallied(rest))))),
        "report": (changed, some(changed, "finding changed", "findings changed")),
    }
    hot = cycle.phase if cycle.error else "plan" if done.get(LATER["ask"]) else ""
    return [
        Phase(name.title(), *told[name], took(cycle.times.get(name, 0)), name == hot)
        for name in PHASES
    ]


@dataclass(frozen=True)
class Deed:
    """One step of a cycle as its page lists it."""

    title: str
    target: str
    kind: str
    name: str
    result: str
    tone: str
    why: str


def deeds(cycle: Cycle) -> Iterator[Deed]:
    """List the steps of a cycle."""
    tones = {"done": "ok", "failed": "danger", LATER["ask"]: "warn", LATER["refuse"]: "warn"}
    for each in cycle.actions:
        operation, result = operations.find(each["operation"]), result_of(each)
        title = operation.title if operation else each["operation"] or each["type"]
        kind, _, name = each["target"].partition("/")
        said = each["reason"] if each["result"] == "failure" else each["why"]
        yield Deed(
            title.capitalize(), each["target"], kind, name, result, tones.get(result, ""), said
        )
