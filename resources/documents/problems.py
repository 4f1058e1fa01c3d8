"""One refusal: what use cases raise, and what API, pages, command line and MCP render.

Whoever has to tell refusals apart asks for the code. Each code has one status, at every entrance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from resources.documents.kind import Fault

INVALID = "invalid"
UNREADABLE = "unreadable"
NOT_SIGNED_IN = "not-signed-in"
FORBIDDEN = "forbidden"
CONFIRM = "confirm"
NOT_FOUND = "not-found"
METHOD_NOT_ALLOWED = "method-not-allowed"
NOT_ACCEPTABLE = "not-acceptable"
CONFLICT = "conflict"
CHANGED = "changed"
DECIDED = "decided"
EXPIRED = "expired"
BLOCKED = "blocked"
REFUSED = "refused"
STOPPED = "stopped"
STALE_EPOCH = "stale-epoch"
TAKEN = "taken"
FENCED = "fenced"
BUSY = "busy"
GONE = "gone"
TOO_LARGE = "too-large"
UNSUPPORTED_MEDIA_TYPE = "unsupported-media-type"
PRECONDITION_REQUIRED = "precondition-required"
TOO_OFTEN = "too-often"
ERROR = "error"
UNAVAILABLE = "unavailable"


class Sort(NamedTuple):
    """Problems of one code: the status they are answered with, and their title."""

    status: int
    title: str


SORTS: Mapping[str, Sort] = {
    INVALID: Sort(400, "The request is not valid"),
    UNREADABLE: Sort(400, "The body cannot be read"),
    NOT_SIGNED_IN: Sort(401, "Nobody is signed in"),
    FORBIDDEN: Sort(403, "This is not allowed"),
    CONFIRM: Sort(403, "Confirm first that it is you"),
    NOT_FOUND: Sort(404, "This does not exist"),
    METHOD_NOT_ALLOWED: Sort(405, "This method is not allowed here"),
    NOT_ACCEPTABLE: Sort(406, "No such format"),
    CONFLICT: Sort(409, "Somebody else changed this first"),
    CHANGED: Sort(409, "It is no longer what you saw"),
    DECIDED: Sort(409, "It has been decided"),
    EXPIRED: Sort(410, "It is too late"),
    BLOCKED: Sort(409, "Other resources stand in the way"),
    REFUSED: Sort(409, "This cannot be done as things are"),
    STOPPED: Sort(423, "A person said no"),
    STALE_EPOCH: Sort(409, "The holds have changed"),
    TAKEN: Sort(409, "It is not, or no longer, yours"),
    FENCED: Sort(409, "Another process has taken over"),
    BUSY: Sort(409, "Too much is changing at once"),
    GONE: Sort(410, "This is no longer kept"),
    TOO_LARGE: Sort(413, "The body is too large"),
    UNSUPPORTED_MEDIA_TYPE: Sort(415, "This media type is not understood"),
    PRECONDITION_REQUIRED: Sort(428, "Say which version you have seen"),
    TOO_OFTEN: Sort(429, "You call too often"),
    ERROR: Sort(500, "Something went wrong here"),
    UNAVAILABLE: Sort(503, "The database does not answer in time"),
}


class Problem(Exception):
    """Something was not done: why in one sentence, where, and what else helps the caller.

    `facts` are plain values. A missing right names its rule for programs in the fact `code`.
    """

    def __init__(
        self, code: str, message: str, /, pointer: str | None = None, **facts: Any
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.pointer = pointer
        self.facts = facts

    @property
    def status(self) -> int:
        """The status that every entrance answers with."""
        return SORTS[self.code].status

    @property
    def title(self) -> str:
        """What problems of this code have in common."""
        return SORTS[self.code].title

    @property
    def rule(self) -> str:
        """Which rule somebody's rights do not meet; empty for every other problem."""
        return str(self.facts.get("code", ""))


def invalid(message: str, pointer: str | None = None, **facts: Any) -> Problem:
    """Say that what was asked is not valid, and where."""
    return Problem(INVALID, message, pointer, **facts)


def wrong(faults: Iterable[Fault], *, code: str = INVALID, within: str = "") -> Problem:
    """Refuse a document with everything that is wrong in it."""
    errors = [as_error(each, within) for each in faults]
    first = errors[0]
    message = f"{first['pointer']}: {first['detail']}" if first["pointer"] else first["detail"]
    return Problem(code, message, first["pointer"], errors=errors)


def as_error(fault: Fault, within: str = "") -> dict[str, str]:
    """Write one fault; `within` is the part of the document that the body is."""
    return {"pointer": fault.pointer.removeprefix(within), "detail": fault.message}


def missing(message: str, **facts: Any) -> Problem:
    """Say that something does not exist, or is not to be seen."""
    return Problem(NOT_FOUND, message, **facts)


def forbidden(message: str) -> Problem:
    """Say that somebody may not do this."""
    return Problem(FORBIDDEN, message)


def denied(rule: str, message: str) -> Problem:
    """Say that somebody's rights do not reach, and by which rule."""
    return Problem(FORBIDDEN, message, code=rule)


def refused(message: str, **facts: Any) -> Problem:
    """Say that something cannot be done as things are."""
    return Problem(REFUSED, message, **facts)


def conflict(message: str, current: int | None = None) -> Problem:
    """Say that somebody was faster, and which version would fit."""
    facts = {"currentVersion": str(current)} if current is not None else {}
    return Problem(CONFLICT, message, **facts)


def held(message: str, epoch: int) -> Problem:
    """Say that a hold of a person stands in the way, and the epoch of the holds."""
    return Problem(STOPPED, message, epoch=str(epoch))
