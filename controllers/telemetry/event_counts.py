"""Count events by contract, minute and hour, in one statement for a whole batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet, Sum

from controllers.models import TelemetryCount
from controllers.telemetry.contract_check import Judged

MINUTE, HOUR = TelemetryCount.Span.MINUTE, TelemetryCount.Span.HOUR
LENGTHS = {MINUTE: timedelta(minutes=1), HOUR: timedelta(hours=1)}
# Up to here minutes are counted, beyond it hours: minutes are not kept for longer.
FINE = timedelta(days=1)

COUNT = """
    INSERT INTO controllers_telemetrycount
      (contract_id, span, at, received, invalid, stored, size) VALUES {rows}
    ON CONFLICT (contract_id, span, at) DO UPDATE SET
      received = controllers_telemetrycount.received + excluded.received,
      invalid = controllers_telemetrycount.invalid + excluded.invalid,
      stored = controllers_telemetrycount.stored + excluded.stored,
      size = controllers_telemetrycount.size + excluded.size
"""
BEAT = """
    INSERT INTO controllers_telemetrypulse (contract_id, last_at, arrivals, published)
      VALUES {rows}
    ON CONFLICT (contract_id) DO UPDATE SET
      arrivals = controllers_telemetrypulse.arrivals + 1,
      last_at = CASE WHEN excluded.last_at > controllers_telemetrypulse.last_at
        THEN excluded.last_at ELSE controllers_telemetrypulse.last_at END
"""


class Figures(NamedTuple):
    """What arrived under a contract in some time."""

    received: int = 0
    invalid: int = 0
    stored: int = 0
    size: int = 0

    @property
    def error_rate(self) -> float:
        """Which part of it broke the contract."""
        return self.invalid / self.received if self.received else 0.0


def count(judged: Iterable[tuple[Judged, bool]], now: datetime) -> None:
    """Count what arrived under contracts, kept or not."""
    sums: dict[int, Figures] = defaultdict(Figures)
    for each, kept in judged:
        if each.contract is not None:
            more = (1, int(each.invalid), int(kept), each.size if kept else 0)
            sums[each.contract.key] = Figures(
                *(old + new for old, new in zip(sums[each.contract.key], more, strict=True))
            )
    if not sums:
        return
    # In one order, so that two who count the same wait for each other and not in a circle.
    keys = sorted(sums)
    counted = [(key, span, floor(now, span), *sums[key]) for key in keys for span in LENGTHS]
    execute(COUNT, counted)
    execute(BEAT, [(key, now, 1, 0) for key in keys])


def execute(statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run a statement over rows of values."""
    adapt = connection.ops.adapt_datetimefield_value
    values = [adapt(each) if isinstance(each, datetime) else each for row in rows for each in row]
    places = ", ".join([f"({', '.join(['%s'] * len(rows[0]))})"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(statement.format(rows=places), values)


def floor(at: datetime, span: str) -> datetime:
    """Return when the minute or the hour of a time began."""
    whole = at.replace(second=0, microsecond=0)
    return whole if span == MINUTE else whole.replace(minute=0)


def within(window: timedelta, now: datetime, contracts: Iterable[int]) -> dict[int, Figures]:
    """Return what arrived in a window, by contract; what the window only touches counts whole."""
    span = MINUTE if window <= FINE else HOUR
    since = now - window - LENGTHS[span]
    rows: QuerySet[Any, Any] = TelemetryCount.objects.filter(
        contract__in=list(contracts), span=span, at__gt=since
    ).values("contract")
    sums = rows.annotate(
        all_received=Sum("received"),
        all_invalid=Sum("invalid"),
        all_stored=Sum("stored"),
        all_size=Sum("size"),
    )
    names = ("all_received", "all_invalid", "all_stored", "all_size")
    return {
        key: Figures(*(int(each) for each in figures))
        for key, *figures in sums.values_list("contract", *names)
    }
