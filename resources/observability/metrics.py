"""Every metric of the product: its name, what it says, its labels. A new one is one line here.

What happens is counted by the process in which it happens, where it happens. What is a row is
read when somebody asks, by `controllers.worker.metrics_export`. Labels are words from short lists:
never a name that somebody chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import GaugeMetricFamily

QUICK = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
LONG = (0.05, 0.1, 0.5, 1, 5, 15, 60, 300)
# How long people take: a minute to a week.
PATIENT = (60, 300, 900, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800)


class Known(NamedTuple):
    """A metric as the documentation lists it."""

    area: str
    name: str
    kind: str
    help: str
    labels: tuple[str, ...]
    # Whether every process tells the same, read from the database.
    shared: bool


class Rows(NamedTuple):
    """Numbers that are rows: made anew at each scrape."""

    name: str
    help: str
    labels: tuple[str, ...]

    def family(self) -> GaugeMetricFamily:
        """Begin a set of numbers of one scrape."""
        return GaugeMetricFamily(self.name, self.help, labels=self.labels)


disable_created_metrics()  # type: ignore[no-untyped-call]
registry = CollectorRegistry()
# Memory, processor time and open files, under the names everybody uses: `process_…`.
ProcessCollector(registry=registry)
known: list[Known] = []


def counter(area: str, name: str, said: str, *labels: str) -> Counter:
    """Make something that only grows, while the process lives."""
    known.append(Known(area, f"{name}_total", "counter", said, labels, shared=False))
    return Counter(name, said, labels, registry=registry)


def gauge(area: str, name: str, said: str, *labels: str) -> Gauge:
    """Make something that goes up and down with the process."""
    known.append(Known(area, name, "gauge", said, labels, shared=False))
    return Gauge(name, said, labels, registry=registry)


def histogram(
    area: str, name: str, said: str, *labels: str, buckets: Sequence[float]
) -> Histogram:
    """Make something that takes time."""
    known.append(Known(area, name, "histogram", said, labels, shared=False))
    return Histogram(name, said, labels, registry=registry, buckets=buckets)


def rows(area: str, name: str, said: str, *labels: str) -> Rows:
    """Make something that is read from the database."""
    known.append(Known(area, name, "gauge", said, labels, shared=True))
    return Rows(name, said, labels)


LOOP, DECISIONS, EFFECTS, WEB, DATABASE = (
    "Loop",
    "Decisions",
    "Effects and calls",
    "Web and sockets",
    "Database",
)

CYCLES = counter(LOOP, "ioa_cycles", "Cycles that ended, by how.", "outcome")
CYCLE_SECONDS = histogram(LOOP, "ioa_cycle_seconds", "How long cycles took.", buckets=LONG)
PHASE_SECONDS = counter(
    LOOP, "ioa_phase_seconds", "Seconds spent in each phase of cycles.", "phase"
)
HEARTBEAT_AGE = rows(
    LOOP, "ioa_loop_heartbeat_age_seconds", "Since a loop was last alive; +Inf if none ever was."
)
QUEUE = rows(
    LOOP, "ioa_queue_items", "Work for controllers: due, or parked because it failed.", "state"
)
QUEUE_AGE = rows(LOOP, "ioa_queue_oldest_seconds", "For how long the oldest work has been due.")
CONTROLLERS = rows(
    LOOP,
    "ioa_controllers",
    "Controllers: running, stopped by their breaker, stalled, or invalid.",
    "state",
)

PROPOSALS = rows(DECISIONS, "ioa_proposals", "Open proposals, by state.", "state")
PROPOSAL_AGE = rows(
    DECISIONS,
    "ioa_proposals_oldest_seconds",
    "Age of the oldest open proposal in each state; those put off do not count.",
    "state",
)
DECISION_SECONDS = histogram(
    DECISIONS,
    "ioa_decision_seconds",
    "From proposed to decided by people, by answer.",
    "answer",
    buckets=PATIENT,
)
HOLDS = rows(DECISIONS, "ioa_holds", "Standing holds, by kind.", "kind")

DONE = counter(
    EFFECTS,
    "ioa_effects",
    "Steps that were carried out or tried, by who did it and what became of it.",
    "kind",
    "outcome",
)
CALL_SECONDS = histogram(
    EFFECTS,
    "ioa_call_seconds",
    "How long calls to endpoints and channels took, by what became of them.",
    "to",
    "outcome",
    buckets=QUICK,
)
OUTBOX = rows(EFFECTS, "ioa_outbox_messages", "Messages to people: waiting, or given up.", "state")
OUTBOX_AGE = rows(EFFECTS, "ioa_outbox_oldest_seconds", "Age of the oldest message that waits.")

REQUESTS = counter(
    WEB,
    "ioa_http_requests",
    "Answered requests, by method, route and class of status.",
    "method",
    "route",
    "status",
)
REQUEST_SECONDS = histogram(
    WEB, "ioa_http_request_seconds", "Until an answer began, by route.", "route", buckets=QUICK
)
SOCKETS = gauge(WEB, "ioa_live_sockets", "Open live pages of this process.")
WAKEUP_FAILURES = counter(
    WEB, "ioa_wakeup_failures", "Wake-ups of other processes that failed: Redis is away."
)

DATABASE_UP = rows(
    DATABASE,
    "ioa_database_up",
    "Whether the database answered; if not, nothing is told that is read from it.",
)
SIGN_INS = counter(
    WEB, "ioa_sign_ins", "Tries to sign in: let in, refused, or locked out.", "outcome"
)
CSP_REPORTS = counter(
    WEB, "ioa_csp_reports", "Breaches of the content security policy that browsers reported."
)
OUTAGES = counter(
    DATABASE, "ioa_database_outages", "Requests answered 503 because the database did not answer."
)
LEDGER_EVENTS = counter(DATABASE, "ioa_ledger_events", "Entries written into the ledger.")
UNSIGNED_AGE = rows(
    DATABASE,
    "ioa_ledger_unsigned_age_seconds",
    "Age of the oldest ledger entry without a signed checkpoint; 0 when there is none.",
)
