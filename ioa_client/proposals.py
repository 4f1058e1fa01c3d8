"""Propose changes and hear what people say; deciding is for people alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ioa_client.group import Group
from ioa_client.transport import Document, place

SENT_BACK = "changes_requested"


class Proposals(Group):
    """Plans that wait for people."""

    def file(self, resource: str, actions: Sequence[Document], why: str) -> Document:
        """Propose operations with parameters on a resource such as `agent/scribe`."""
        body = {"resource": resource, "actions": list(actions), "why": why}
        found: Document = self.transport.call("POST", "proposals", body, create=True)
        return found

    def revise(self, proposal: int, actions: Sequence[Document], why: str) -> Document:
        """Answer a request for changes with another plan."""
        body = {"actions": list(actions), "why": why}
        found: Document = self.transport.call("PUT", place("proposals", proposal), body)
        return found

    def read(self, proposal: int, *, since: int | None = None) -> Document:
        """Return a proposal; with a revision also what changed since."""
        query = {"since": since}
        found: Document = self.transport.call("GET", place("proposals", proposal), query=query)
        return found

    def list(
        self, *, state: str | None = None, resource: str | None = None, mine: bool | None = None
    ) -> Iterator[Document]:
        """Yield proposals, newest first; `mine` are those that this token filed."""
        query = {"state": state, "resource": resource, "mine": mine, "limit": 200}
        return self.every("proposals", query)

    def feedback(self) -> Iterator[Document]:
        """Yield the token's own proposals that people sent back, each with its `feedback`."""
        return self.list(state=SENT_BACK, mine=True)
