"""Follow every change as it happens, and go on where one was after a break."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ioa_client.errors import Problem, Unreachable
from ioa_client.group import Group
from ioa_client.transport import BROKEN, FIRST_REST, LONGEST_REST, Document

BOOKMARK = "BOOKMARK"
ERROR = "ERROR"


@dataclass(frozen=True)
class Change:
    """One change: ADDED, MODIFIED or DELETED, the document, and its version."""

    type: str
    document: Document
    version: str


@dataclass
class Frame:
    """One server-sent event as it is read, line by line."""

    event: str = "message"
    id: str = ""
    data: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        """Read one line."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self.data.append(value)
        elif name == "event":
            self.event = value
        elif name == "id":
            self.id = value

    def read(self) -> Any:
        """Return what it carries."""
        return json.loads("\n".join(self.data))


class Watching(Group):
    """The feed of changes."""

    def changes(self, kind: str | None = None, since: str | None = None) -> Iterator[Change]:
        """Yield changes after a version, or from now; a broken line is taken up again.

        A problem, such as 410 when the beginning is no longer kept, ends it.
        """
        cursor, failures = since, 0
        while True:
            try:
                for frame in self.frames(kind, cursor):
                    cursor, failures = frame.id or cursor, 0
                    if frame.event != BOOKMARK:
                        yield Change(frame.event, frame.read(), frame.id)
            except Unreachable:
                failures += 1
                if failures >= self.transport.attempts:
                    raise
                time.sleep(min(FIRST_REST * 2**failures, LONGEST_REST))

    def frames(self, kind: str | None, cursor: str | None) -> Iterator[Frame]:
        """Yield the events of one connection until it ends."""
        headers = {"Accept": "text/event-stream"}
        # Often enough that a line which is dead is noticed before the time is up.
        every = max(1, min(15, int(self.transport.timeout / 2)))
        query = {"kind": kind, "since": cursor, "bookmarkSeconds": every}
        answer = self.transport.stream("watch", query, headers)
        try:
            yield from frames_of(answer)
        except BROKEN as error:
            raise Unreachable(f"The feed broke off: {error}.") from error
        finally:
            self.transport.streams.discard(answer)
            answer.close()
        raise Unreachable("The feed ended.")


def frames_of(lines: Iterator[bytes]) -> Iterator[Frame]:
    """Read server-sent events; a farewell of the product becomes a problem."""
    frame = Frame()
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line:
            frame.take(line)
            continue
        if frame.event == ERROR:
            document = frame.read()
            raise Problem(int(document.get("status", 500)), document, None)
        if frame.data:
            yield frame
        frame = Frame()
