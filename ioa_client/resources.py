"""Read what is declared and observed; report how things are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ioa_client.group import Group
from ioa_client.transport import Document, place


class Resources(Group):
    """Resources of every kind."""

    def read(self, kind: str, name: str) -> Document:
        """Return a resource: its spec, its status, its conditions."""
        found: Document = self.transport.call("GET", place("resources", kind, name))
        return found

    def list(
        self,
        kind: str,
        *,
        domain: str | None = None,
        labels: str | None = None,
        drifted: bool | None = None,
    ) -> Iterator[Document]:
        """Yield the resources of a kind, by name; `labels` is a selector such as `tier=gold`."""
        query = {"domain": domain, "labelSelector": labels, "drifted": drifted, "limit": 200}
        return self.every(place("resources", kind), query)

    def report(self, kind: str, name: str, status: Document, *, replace: bool = False) -> Document:
        """Say how something is: merged into its status, or in the place of all of it."""
        method, path = "PUT" if replace else "PATCH", place("resources", kind, name, "status")
        found: Document = self.transport.call(method, path, status)
        return found

    def observe(self, items: Sequence[Document]) -> Document:
        """Report many statuses at once: each has kind, name, status, and gets its own verdict."""
        body = {"items": list(items)}
        found: Document = self.transport.call("POST", "observations", body, create=True)
        return found
