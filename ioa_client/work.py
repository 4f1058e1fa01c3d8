"""Work that people or policies allowed: claim it, go on with it, report it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ioa_client.group import Group
from ioa_client.transport import Document, place, said


class Work(Group):
    """Actions that wait for the bearer of the token."""

    def list(self, *, state: str | None = "claimable") -> Iterator[Document]:
        """Yield the work, oldest first; without a state all of it."""
        return self.every("actions", {"state": state, "limit": 200})

    def claim(self, action: int) -> Document:
        """Claim an action; the answer has its `fence`, `epoch`, deadline and parameters."""
        found: Document = self.transport.call(
            "POST", place("actions", action, "claim"), {}, create=True
        )
        return found

    def heartbeat(self, claim: Document) -> Document:
        """Go on with a claim; 423 when a person said no."""
        return self.tell(claim, "heartbeat")

    def progress(self, claim: Document, percent: int | None = None, note: str = "") -> Document:
        """Say how far it is; it goes on as with a heartbeat."""
        return self.tell(claim, "progress", percent=percent, note=note or None)

    def result(
        self,
        claim: Document,
        outcome: str,
        *,
        failure: str | None = None,
        detail: str | None = None,
        outputs: Document | None = None,
    ) -> Document:
        """Say `success` or `failure`; a failure is transient, permanent, stopped or unknown."""
        body = {"fence": claim["fence"], "outcome": outcome} | said(detail=detail, outputs=outputs)
        found: Document = self.transport.call(
            "POST",
            place("actions", claim["id"], "result"),
            body | ({"class": failure} if failure else {}),
            create=True,
        )
        return found

    def tell(self, claim: Document, verb: str, **body: Any) -> Document:
        """Say something about a claim."""
        held = {"fence": claim["fence"], "epoch": claim["epoch"]}
        found: Document = self.transport.call(
            "POST", place("actions", claim["id"], verb), held | said(**body)
        )
        return found
