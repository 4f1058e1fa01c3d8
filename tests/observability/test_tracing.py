"""Spans: of a request, a cycle and its phases, a decision and a call, in one story; or none."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from controllers.decisions import answers
from controllers.execution import outside_calls
from controllers.execution.permits import Order
from controllers.models import Endpoint
from controllers.notifications import delivery
from ioa_site.server import span_export as site
from resources.observability import spans as tracing
from tests.conftest import Clock
from tests.controllers.making import controller, declare, drifted, work
from tests.decisions import making
from tests.journeys.product import Product
from tests.problems import refuses

pytestmark = pytest.mark.full

GZIP = b"\x1f\x8b"
BLOCKED = "import sys; sys.modules['opentelemetry.sdk'] = None\n"
START = "from ioa_site.cli import main; sys.exit(main(['worker']))"


class Spans:
    """What was kept."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()

    def named(self, name: str) -> list[ReadableSpan]:
        """Return the spans of a name, in the order they ended."""
        return [each for each in self.exporter.get_finished_spans() if each.name == name]

    def one(self, name: str) -> Any:
        """Return the only span of a name."""
        (found,) = self.named(name)
        return found


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Keep the spans of this process in memory."""
    kept = Spans()
    site.keep(SimpleSpanProcessor(kept.exporter))
    yield kept
    tracing.keeper = None


@pytest.mark.django_db
def test_a_cycle_is_made_of_its_phases_and_names_its_story(clock: Clock, spans: Spans) -> None:
    declare(clock, controller())
    drifted(clock, "farm")

    [cycle] = work(clock)

    whole = spans.one("cycle")
    parts = [spans.one(each) for each in ("watch", "diff", "plan", "act", "report")]
    assert whole.attributes["ioa.correlation_id"] == cycle.correlation_id
    assert whole.attributes["ioa.controller"] == "keeper"
    assert {each.parent.span_id for each in parts} == {whole.context.span_id}
    assert [each.start_time for each in parts[1:]] == [each.end_time for each in parts[:-1]]
    assert whole.start_time <= parts[0].start_time
    assert parts[-1].end_time <= whole.end_time


@pytest.mark.django_db
def test_a_request_is_named_by_its_route_and_carries_the_callers_id(spans: Spans) -> None:
    Client().get("/healthz?secret=1", headers={"X-Correlation-ID": "release-7"})

    span = spans.one("GET healthz")
    assert span.attributes["ioa.correlation_id"] == "release-7"
    assert span.attributes["http.response.status_code"] == 200
    assert "secret" not in span.to_json()


@pytest.mark.django_db
def test_a_decision_is_a_span_also_when_it_is_refused(
    clock: Clock, maya: User, spans: Spans
) -> None:
    row = making.proposal(clock, making.agent(clock))
    said: dict[str, Any] = {"person": maya, "seen": making.seen(row), "now": clock.now}

    answers.reject(row.pk, reason="No.", **said)
    with refuses("decided"):
        answers.approve(row.pk, reason="Yes.", **said)

    rejected, approved = spans.named("decision")
    assert rejected.attributes == {
        "ioa.correlation_id": "story",
        "ioa.answer": "reject",
        "ioa.proposal": row.pk,
    }
    assert (rejected.status.is_ok, approved.status.is_ok) == (True, False)


@pytest.mark.django_db
def test_a_call_to_a_machine_goes_on_with_the_story_of_its_proposal(
    clock: Clock, spans: Spans
) -> None:
    nowhere = Endpoint(name="billing", url="http://203.0.113.1/", secret="")
    soon = clock.now + timedelta(seconds=5)
    order = Order(1, 1, 1, 1, nowhere, {}, "key", soon, "story")

    outside_calls.make(order, lambda: clock.now)

    assert spans.one("call").attributes == {"ioa.correlation_id": "story", "ioa.to": "billing"}


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
@pytest.mark.django_db
def test_a_message_to_people_is_a_call_too(clock: Clock, spans: Spans, settings: Any) -> None:
    settings.WEBHOOKS_ALLOW_LOOPBACK = True
    admin = making.person(clock, "ada", "administrator")
    delivery.map_channel("ops", "json://127.0.0.1:1/x", person=admin, now=clock.now)
    sent = delivery.test_channel("ops", person=admin, now=clock.now)

    delivery.send_one(sent.pk, clock.now)

    assert spans.one("call").attributes["ioa.to"] == "ops"


class Collector(BaseHTTPRequestHandler):
    """Keeps where spans were sent to, and what was sent."""

    heard: list[tuple[str, bytes]] = []

    def do_POST(self) -> None:
        """Take a batch."""
        length = int(self.headers["Content-Length"])
        self.heard.append((self.path, self.rfile.read(length)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's word
        """Say nothing."""


def test_spans_reach_the_collector_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv(site.ENDPOINT, f"http://127.0.0.1:{server.server_port}")
        with site.kept(), tracing.span("cycle", correlation_id="story-of-ours", to="x"):
            pass
        server.shutdown()

    ((path, body),) = Collector.heard
    assert path == "/v1/traces"
    sent = gzip.decompress(body) if body.startswith(GZIP) else body
    assert b"story-of-ours" in sent
    assert tracing.keeper is None


def test_a_collector_that_is_away_keeps_nobody_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(site.ENDPOINT, "http://127.0.0.1:1")
    with site.kept():
        with tracing.span("cycle"):
            pass
        began = time.monotonic()

    assert time.monotonic() - began < site.LAST_SECONDS + 10


def test_a_span_that_nobody_keeps_is_the_same_nothing_each_time() -> None:
    assert tracing.span("a") is tracing.span("b", more=1)
    with tracing.span("a") as span:
        assert span is None
    tracing.parts({"watch": 1.0})


@pytest.mark.sqlite
def test_what_keeps_and_sends_spans_is_not_imported_unless_it_is_asked_for(
    tmp_path: Path,
) -> None:
    # The client of Redis looks for meters by itself; spans are only ours.
    program = (
        "import sys, django; django.setup()\n"
        "import ioa_site.asgi, ioa_site.server.span_export, controllers.worker.worker_loop\n"
        "with ioa_site.server.span_export.kept(): pass\n"
        "spans = ('opentelemetry.sdk.trace', 'opentelemetry.exporter')\n"
        "print([name for name in sys.modules if name.startswith(spans)])"
    )

    assert started(tmp_path, program).stdout.strip() == "[]"


@pytest.mark.sqlite
def test_an_address_without_what_sends_there_stops_the_start_with_a_sentence(
    tmp_path: Path,
) -> None:
    product = Product(tmp_path / "data")
    assert product.run("migrate").returncode == 0

    done = started(tmp_path, BLOCKED + START, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")

    assert done.returncode == 2
    assert done.stderr == f"ioa: {site.MISSING}\n"


def started(tmp_path: Path, program: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a program beside the product's data."""
    environment = Product(tmp_path / "data").environment | {
        "DJANGO_SETTINGS_MODULE": "ioa_site.settings"
    }
    return subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=environment | given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
