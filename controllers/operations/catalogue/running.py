"""What can be done with the run of a workflow: by the control plane where runs are kept here,
or else by whoever leads the run.
"""

from __future__ import annotations

from controllers.operations.operation import NAME, NAMES, Document, Operation, parameters


def _state(_: Document) -> tuple[str, ...]:
    return ("status.state",)


RUN = parameters(workflow=NAME, run=NAME)
STEPS = parameters(workflow=NAME, run=NAME, steps=NAMES)
GATE = parameters(("run", "step"), workflow=NAME, run=NAME, step=NAME)
OPERATIONS = (
    Operation(
        name="start",
        title="Start",
        sentence="Starts a new run of a workflow.",
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
