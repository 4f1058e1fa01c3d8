"""Spans: what took how long, in one story. `ioa_site.server.span_export` says who keeps them.

Without that a span is one comparison, and nothing of OpenTelemetry is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from resources.observability import correlation


class Keeper(Protocol):
    """Whoever keeps spans."""

    def span(self, name: str, about: Mapping[str, Any]) -> AbstractContextManager[Any]:
        """Keep one around what happens inside."""

    def parts(self, seconds: Mapping[str, float]) -> None:
        """Keep what the present span is made of, end to end: how long, not when."""


keeper: Keeper | None = None
NOTHING: AbstractContextManager[Any] = nullcontext()


def span(name: str, **about: Any) -> AbstractContextManager[Any]:
    """Measure what happens inside; it yields the span, or nothing when nobody keeps it."""
    if keeper is None:
        return NOTHING
    story = correlation.current()
    return keeper.span(name, {**({"correlation_id": story} if story else {}), **about})


def belong(span: Any, story: str) -> None:
    """Say which story a span turns out to belong to, unless it was begun in one."""
    if span is not None and not correlation.correlation.get():
        span.set_attribute("ioa.correlation_id", story)


def parts(seconds: Mapping[str, float]) -> None:
    """Say how long the parts of the present span took, where they took turns."""
    if keeper is not None:
        keeper.parts(seconds)
