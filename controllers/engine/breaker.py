"""The circuit breaker of a controller: failures open it, only a person starts it again."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Breaker(NamedTuple):
    """Whether a controller may run; `failures` are in a row, `reason` says why it opened."""

    state: Literal["closed", "open", "half_open"] = "closed"
    failures: int = 0
    reason: str = ""


CLOSED = Breaker()


def after_cycle(breaker: Breaker, ok: bool, limit: int, reason: str) -> Breaker:
    """Count a cycle that ended; leave out those whose error does not count."""
    if breaker.state == "open":
        return breaker
    if ok:
        return CLOSED
    failures = breaker.failures + 1
    if breaker.state == "half_open" or failures >= limit:
        return Breaker("open", failures, reason)
    return Breaker("closed", failures)


def open_now(breaker: Breaker, reason: str) -> Breaker:
    """Open it without counting; one that is open already keeps its first reason."""
    return breaker if breaker.state == "open" else Breaker("open", breaker.failures, reason)


def stopped(breaker: Breaker) -> str:
    """Say why a breaker is open and who may close it."""
    return f"Stopped until a person resets it: {breaker.reason or 'too many cycles failed'}"


def reset(breaker: Breaker) -> Breaker:
    """Let an open breaker try one cycle; nothing but a person's word leads here."""
    return breaker._replace(state="half_open") if breaker.state == "open" else breaker
