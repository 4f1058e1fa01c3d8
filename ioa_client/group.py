"""What every group of calls shares."""

from __future__ import annotations

from collections.abc import Iterator

from ioa_client.transport import Document, Query, Transport


class Group:
    """Calls about one thing."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def page(self, path: str, query: Query) -> Document:
        """Return one page of a list."""
        page: Document = self.transport.call("GET", path, query=query)
        return page

    def every(self, path: str, query: Query) -> Iterator[Document]:
        """Yield each item of a list, page after page."""
        cursor = None
        while True:
            page = self.page(path, {**query, "cursor": cursor})
            yield from page["items"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return
