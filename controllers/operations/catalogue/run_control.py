"""What can be done with the run of a workflow: by the control plane where runs are kept here,
or else by whoever leads the run.
"""

from __future__ import annotations

from controllers.engine.finding_text import listed
from controllers.operations.operation import NAME, NAMES, Document, Operation, parameters
from controllers.operations.phrases import Phrase, names, plain


def _state(_: Document) -> tuple[str, ...]:
    return ("status.state",)


def _of_run(verb: str) -> Phrase:
    def said(name: str, given: Document) -> str:
        return f"{verb} {name} {given.get('run', '')}".rstrip()

    return said


def _say_retry(name: str, given: Document) -> str:
    steps = names(given, "steps")
    noun = "step" if len(steps) == 1 else "steps"
    return f"Retry {noun} {listed(steps)} of {name}" if steps else f"Retry {name}"


def _say_gate(name: str, given: Document) -> str:
    return f"Let run {given.get('run', '')} of {name} pass {given.get('step', 'its gate')}"


RUN = parameters(workflow=NAME, run=NAME)
STEPS = parameters(workflow=NAME, run=NAME, steps=NAMES)
GATE = parameters(("run", "step"), workflow=NAME, run=NAME, step=NAME)
OPERATIONS = (
    Operation(
        name="start",
        title="Start",
        sentence="Starts a new run of a workflow.",
        says=plain("Start a new run of {name}"),
        kind="change",
        risk="medium",
        targets=("Workflow",),
        parameters=RUN,
        executor="agent",
        idempotent=False,
        touches=_state,
        opposite="abort",
        seen="The workflow reports a new run that is queued or executing.",
    ),
    Operation(
        name="retry",
        title="Retry",
        sentence="Runs the steps of a workflow again that failed or hang.",
        says=_say_retry,
        kind="change",
        risk="low",
        targets=("Workflow",),
        parameters=STEPS,
        executor="agent",
        on_runs=True,
        idempotent=False,
        touches=lambda _: ("status.state", "status.retries"),
        opposite="abort",
        seen="The workflow reports the steps as running or completed, and one more retry.",
    ),
    Operation(
        name="compensate",
        title="Compensate",
        sentence="Undoes the completed steps of a workflow, the last one first.",
        says=_of_run("Compensate"),
        kind="change",
        risk="medium",
        targets=("Workflow",),
        parameters=STEPS,
        executor="agent",
        on_runs=True,
        touches=lambda _: ("status.state", "status.completedSteps"),
        opposite="start",
        seen="The workflow reports that it compensates, and then that it is completed.",
    ),
    Operation(
        name="abort",
        title="Abort",
        sentence="Ends the run of a workflow where it stands.",
        says=_of_run("Abort"),
        kind="change",
        risk="high",
        reversible=False,
        destructive=True,
        targets=("Workflow",),
        parameters=RUN,
        executor="agent",
        on_runs=True,
        touches=_state,
        seen="The workflow reports that its run failed.",
    ),
    Operation(
        name="pass-gate",
        title="Pass the gate",
        sentence="Lets the run of a workflow go on that waits for a person.",
        says=_say_gate,
        kind="change",
        risk="medium",
        targets=("Workflow",),
        parameters=GATE,
        on_runs=True,
        idempotent=False,
        touches=_state,
        seen="The gate is completed, and the steps behind it become ready.",
    ),
)
