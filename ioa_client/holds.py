"""Read what people said no to."""

from __future__ import annotations

from collections.abc import Iterator

from ioa_client.group import Group
from ioa_client.transport import Document, place


class Holds(Group):
    """Pauses, freezes and overrides; lifting them is for people alone."""

    def list(self, *, standing: bool | None = True) -> Iterator[Document]:
        """Yield the holds that stand, newest first; or those that are over, or all."""
        return self.every("holds", {"standing": standing, "limit": 200})

    def read(self, hold: int) -> Document:
        """Return one hold."""
        found: Document = self.transport.call("GET", place("holds", hold))
        return found

    def epoch(self) -> str:
        """Return the number that moves with every change of the holds."""
        page = self.page("holds", {"standing": True, "limit": 1})
        return str(page["epoch"])
