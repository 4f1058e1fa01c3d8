"""Which story is being told: one id from the trigger to the screen, and the request at hand."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class CurrentRequest:
    """A request that is being answered."""

    method: str
    # Without the query: that may hold what is not for a log.
    path: str
    story: str
    status: int | None = None


correlation: ContextVar[str] = ContextVar("correlation", default="")
asked: ContextVar[CurrentRequest | None] = ContextVar("asked", default=None)


def current() -> str:
    """Return the id of the story at hand; what a request causes is its own unless it has one."""
    request = asked.get()
    return correlation.get() or (request.story if request is not None else "")
