"""Runs of workflows, and the steps that wait for an agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ioa_client.group import Group
from ioa_client.transport import Document, place, said


class Runs(Group):
    """Workflows at work."""

    def start(self, workflow: str, inputs: Document | None = None, **more: str) -> Document:
        """Start a run; `more` may say trigger and correlationId."""
        body = said(inputs=inputs, **more)
        found: Document = self.transport.call(
            "POST", place("workflows", workflow, "runs"), body, create=True
        )
        return found

    def list(self, workflow: str, *, state: str | None = None) -> Iterator[Document]:
        """Yield the runs of a workflow, newest first."""
        return self.every(place("workflows", workflow, "runs"), {"state": state, "limit": 200})

    def read(self, workflow: str, run: str | int) -> Document:
        """Return a run with its steps."""
        path = place("workflows", workflow, "runs", run)
        found: Document = self.transport.call("GET", path)
        return found

    def steps(self, state: str = "ready") -> Iterator[Document]:
        """Yield the steps that wait for this agent, or that it has begun."""
        return self.every(place("workflows", "steps"), {"state": state, "limit": 200})

    def begin(self, work: Document) -> Document:
        """Begin a step as it was listed; the answer has its `fence`."""
        return self.report(work, "start")

    def report(self, work: Document, verb: str, **body: Any) -> Document:
        """Say what becomes of a step: progress, complete or fail, with the fence of its start."""
        workflow = str(work["workflow"]).rpartition("/")[2]
        path = place("workflows", workflow, "runs", work["run"], "steps", work["step"]["number"])
        told = {"verb": verb} | said(fence=work.get("fence")) | said(**body)
        found: Document = self.transport.call("POST", path, told)
        return found
