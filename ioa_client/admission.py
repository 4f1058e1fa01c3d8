"""Ask before acting, wait for a person, and use the permit."""

from __future__ import annotations

import time
from typing import Any

from ioa_client.group import Group
from ioa_client.transport import Document, place

WAITING = "waiting"
# The product answers a wait within a minute; a longer one is asked again.
LONGEST_WAIT = 60


class Admissions(Group):
    """What an agent asks."""

    def ask(self, operation: str, resource: str, **question: Any) -> Document:
        """Ask; `question` may say tokens, cost, model, parameters, text and why.

        The answer's `decision` is allowed (with a permit), denied (with reasons), or waiting.
        """
        body = {"operation": operation, "resource": resource, **question}
        found: Document = self.transport.call("POST", "admission", body, create=True)
        return found

    def read(self, admission: int, *, wait: int = 0) -> Document:
        """Return an answer, at once or when a person has given it, up to a minute later."""
        query = {"wait": f"{min(wait, LONGEST_WAIT)}s" if wait > 0 else None}
        found: Document = self.transport.call(
            "GET", place("admission", admission), query=query, waits=min(wait, LONGEST_WAIT)
        )
        return found

    def wait(self, admission: int, seconds: float) -> Document:
        """Return an answer once a person has given it; after `seconds` it may still wait."""
        ends = time.monotonic() + seconds
        while True:
            left = ends - time.monotonic()
            found = self.read(admission, wait=max(0, round(left)))
            if found["decision"] != WAITING or left <= 0:
                return found

    def redeem(
        self, admission: int, permit: str, operation: str, resource: str, **question: Any
    ) -> Document:
        """Use a permit, once, right before the very operation it was given for."""
        body = {"permit": permit, "operation": operation, "resource": resource, **question}
        found: Document = self.transport.call(
            "POST", place("admission", admission, "redeem"), body
        )
        return found
