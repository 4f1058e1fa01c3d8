"""OpenTelemetry: spans go to the collector that the environment names; without one to nobody."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ioa_site.commands import Stop
from ioa_site.version import VERSION
from resources.observability import spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
MISSING = (
    f"{ENDPOINT} is set, but what sends spans is not installed."
    " Install ioa-control[otel], or unset it."
)
# How long the last spans may take when the process ends.
LAST_SECONDS = 2.0


@contextmanager
def kept() -> Iterator[None]:
    """Send spans while this process works, if the environment says where to."""
    if not os.environ.get(ENDPOINT, "").strip():
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise Stop(MISSING) from None
    provider = keep(BatchSpanProcessor(OTLPSpanExporter()))
    try:
        yield
    finally:
        spans.keeper = None
        # It would try for longer to reach a collector that is away.
        ending = threading.Thread(target=provider.shutdown, name="ioa-spans", daemon=True)
        ending.start()
        ending.join(LAST_SECONDS)


def keep(processor: SpanProcessor) -> TracerProvider:
    """Hand all spans of this process to a processor."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    about = {
        "service.name": os.environ.get("OTEL_SERVICE_NAME", "") or "ioa-control",
        "service.version": VERSION,
    }
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    provider.add_span_processor(processor)
    spans.keeper = Keeper(provider)
    return provider


class Keeper:
    """Makes spans of OpenTelemetry."""

    def __init__(self, provider: TracerProvider) -> None:
        self.tracer = provider.get_tracer("ioa", VERSION)

    def span(self, name: str, about: Mapping[str, Any]) -> AbstractContextManager[Any]:
        """Keep one around what happens inside, as a part of the one around it."""
        return self.tracer.start_as_current_span(name, attributes=attributes(about))

    def parts(self, seconds: Mapping[str, float]) -> None:
        """Lay parts end to end, so that they end now."""
        at = time.time_ns() - sum(map(nanoseconds, seconds.values()))
        for name, taken in seconds.items():
            span = self.tracer.start_span(name, start_time=at)
            at += nanoseconds(taken)
            span.end(at)


def attributes(about: Mapping[str, Any]) -> dict[str, Any]:
    """Name attributes as others do: what is our own begins with our name."""
    return {name if "." in name else f"ioa.{name}": value for name, value in about.items()}


def nanoseconds(seconds: float) -> int:
    """Return seconds as OpenTelemetry counts them."""
    return round(seconds * 1e9)
