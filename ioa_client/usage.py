"""Report what was spent, and read where it leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ioa_client.group import Group
from ioa_client.transport import Document


class Usage(Group):
    """What agents spend."""

    def report(self, items: Sequence[Document]) -> Document:
        """Report records: tokens, cost, model, permit, and what for; each counts once."""
        body = {"items": list(items)}
        found: Document = self.transport.call("POST", "usage", body, create=True)
        return found

    def list(self, *, decision: str | None = None) -> Iterator[Document]:
        """Yield what was reported, newest first."""
        return self.every("usage", {"decision": decision, "limit": 200})

    def economics(
        self, *, domain: str | None = None, since: str | None = None, until: str | None = None
    ) -> Document:
        """Return what was spent between two days, and how the budgets stand."""
        query = {"domain": domain, "since": since, "until": until}
        found: Document = self.transport.call("GET", "economics", query=query)
        return found
