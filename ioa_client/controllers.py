"""Run a controller outside: open a cycle, report findings, close it, be heard."""

from __future__ import annotations

from collections.abc import Sequence

from ioa_client.group import Group
from ioa_client.transport import Document, place, said


class Controllers(Group):
    """What the process of an outside controller says."""

    def open(self, controller: str, *, full: bool = True) -> Document:
        """Open a cycle; the answer has its number, its `fence` and the holds that stand."""
        path = place("controllers", controller, "cycles")
        found: Document = self.transport.call("POST", path, {"full": full})
        return found

    def find(
        self, opened: Document, findings: Sequence[Document], *, dry_run: bool = False
    ) -> Document:
        """Report findings in an open cycle; each gets its own verdict."""
        body = {"fence": opened["fence"], "findings": list(findings)}
        query = {"dryRun": dry_run or None}
        path = f"{cycle_of(opened)}/findings"
        found: Document = self.transport.call("POST", path, body, query=query)
        return found

    def close(
        self,
        opened: Document,
        outcome: str = "completed",
        *,
        error: str | None = None,
        watched: int | None = None,
    ) -> Document:
        """Close a cycle: completed, failed with an error, or interrupted."""
        counts = {"watched": watched} if watched is not None else None
        body = {"fence": opened["fence"], "outcome": outcome}
        found: Document = self.transport.call(
            "PATCH", cycle_of(opened), body | said(error=error, counts=counts)
        )
        return found

    def heartbeat(self, controller: str, fence: str | None = None) -> Document:
        """Say that the process is there; with a fence, keep its open cycle."""
        path = place("controllers", controller, "heartbeat")
        found: Document = self.transport.call("POST", path, said(fence=fence))
        return found


def cycle_of(opened: Document) -> str:
    """Return the address of an open cycle."""
    cycle = opened["cycle"]
    name = str(cycle["controller"]).rpartition("/")[2]
    return place("controllers", name, "cycles", cycle["number"])
