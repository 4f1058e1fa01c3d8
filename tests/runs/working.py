"""Short ways to workflows, runs, and agents that report their steps."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from controllers.models import Proposal, RunStep, WorkflowRun
from controllers.workflows import runs
from controllers.workflows.runs import AgentStepReport, Cost
from controllers.workflows.runs.run_start import Starter
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.decisions.carrying import approve
from tests.decisions.carrying import run as work
from tests.decisions.making import agent
from tests.resources.making import apply, live

WORKFLOW = "release"


def step(name: str, *after: str, by: str = "scribe", **given: Any) -> dict[str, Any]:
    """Declare a step."""
    return {"name": name, "agent": by, "action": f"Do {name}.", "dependsOn": list(after)} | given


def workflow(clock: Clock, *steps: dict[str, Any], **spec: Any) -> Resource:
    """Declare a workflow of growth, and the agents it names."""
    declared = list(steps) or [step("write"), step("send", "write")]
    undone = spec.get("compensation", [])
    for name in {each["agent"] for each in (*declared, *undone)}:
        agent(clock, name)
    document = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Workflow",
        "metadata": {"name": WORKFLOW},
        "spec": {
            "description": "Releases.",
            "domainsInvolved": ["growth"],
            "steps": declared,
            **spec,
        },
    }
    assert apply(clock.now, document).written
    return live("Workflow", WORKFLOW)


def undo(name: str, by: str = "scribe") -> dict[str, str]:
    """Declare how a step is undone."""
    return {"step": name, "agent": by, "action": f"Undo {name}."}


def start(clock: Clock, by: Starter, **given: Any) -> WorkflowRun:
    """Start a run of the workflow."""
    wish = runs.RunRequest(live("Workflow", WORKFLOW).pk, given.pop("story", "story-1"), **given)
    return runs.start(wish, by=by, now=clock.now).run


def begin(clock: Clock, run: WorkflowRun, name: str, by: str = "scribe") -> RunStep:
    """Let an agent begin a step."""
    return say(clock, run, name, AgentStepReport("start"), by)


def say(
    clock: Clock, run: WorkflowRun, name: str, said: AgentStepReport, by: str = "scribe"
) -> RunStep:
    """Let an agent say something about a step."""
    return runs.report(run.pk, name, said, agent=live("Agent", by), now=clock.now)


def done(clock: Clock, run: WorkflowRun, name: str, by: str = "scribe", **given: Any) -> RunStep:
    """Let an agent begin a step and complete it."""
    began = begin(clock, run, name, by)
    return say(clock, run, name, AgentStepReport("complete", began.fence, **given), by)


def failed(
    clock: Clock, run: WorkflowRun, name: str, kind: Any = "agent", by: str = "scribe"
) -> RunStep:
    """Let an agent begin a step and fail."""
    began = begin(clock, run, name, by)
    said = AgentStepReport("fail", began.fence, error_class=kind, error="It broke.")
    return say(clock, run, name, said, by)


def now(run: WorkflowRun) -> WorkflowRun:
    """Return a run as it is now."""
    return WorkflowRun.objects.select_related("workflow").get(pk=run.pk)


def states(run: WorkflowRun) -> dict[str, str]:
    """Return the states of a run's steps, those that undo after the others."""
    rows = RunStep.objects.filter(run=run).order_by("number")
    return {f"undo {each.name}" if each.undoes else each.name: each.state for each in rows}


def asked(run: WorkflowRun) -> Proposal:
    """Return what a run asks people."""
    return Proposal.objects.select_related("resource").get(run_steps__run=run)


def allow(clock: Clock, run: WorkflowRun, *people: User) -> None:
    """Let people approve what a run asks, and the worker carry it out."""
    approve(clock, asked(run), *people)
    work(clock)


def story(run: WorkflowRun) -> list[str]:
    """Return what the ledger tells about a run, in its order."""
    told = LedgerEvent.objects.filter(stream=run.stream).order_by("seq")
    return [each.removeprefix("workflow.") for each in told.values_list("event", flat=True)]


def status() -> dict[str, Any]:
    """Return the status of the workflow."""
    found: dict[str, Any] = live("Workflow", WORKFLOW).status
    return found


COST = Cost(tokens=100, cost=0.5, currency="EUR")
