"""Tools for the steps of workflows."""

from __future__ import annotations

from typing import Any

from ioa_client import Client
from ioa_mcp.tool_results import first, known

Item = dict[str, Any]
DETAILS = ("fence", "message", "result", "errorClass", "error", "cost")


def list_steps(product: Client, state: str = "ready", limit: int = 50) -> Item:
    """List the workflow steps that wait for you (`ready`), or that you began (`running`)."""
    return first(product.runs.steps(state), limit)


def begin_step(product: Client, workflow: str, run: str, step: int) -> Item:
    """Begin a step; keep its fence for every later call."""
    return product.runs.begin(work(workflow, run, step))


def report_step(
    product: Client, workflow: str, run: str, step: int, verb: str, details: Item
) -> Item:
    """Say what becomes of a step: verb `progress`, `complete` or `fail`.

    `details` has the fence of its start, and may have message, result, errorClass, error, cost.
    """
    return product.runs.report(work(workflow, run, step), verb, **known(details, *DETAILS))


def start_run(product: Client, workflow: str, inputs: Item | None = None) -> Item:
    """Start a run of a workflow."""
    return product.runs.start(workflow, inputs)


def work(workflow: str, run: str, step: int) -> Item:
    """Return a step as the client takes it."""
    return {"workflow": workflow, "run": run, "step": {"number": step}}


TOOLS = (list_steps, begin_step, report_step, start_run)
