"""Tell what happens, and read what was told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ioa_client.group import Group
from ioa_client.transport import Document


class Telemetry(Group):
    """Events."""

    def tell(self, items: Sequence[Document]) -> Document:
        """Tell events, each with its name and payload; each gets its own verdict."""
        body = {"items": list(items)}
        found: Document = self.transport.call("POST", "telemetry", body, create=True)
        return found

    def list(
        self,
        *,
        event: str | None = None,
        source: str | None = None,
        story: str | None = None,
        since: str | None = None,
    ) -> Iterator[Document]:
        """Yield events, newest first; `story` is their correlation id."""
        query = {"event": event, "source": source, "correlationId": story, "since": since}
        return self.every("telemetry", {**query, "limit": 200})
