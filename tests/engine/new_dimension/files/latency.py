"""Latency drift: how far the answers of an agent are beyond two seconds."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from controllers.engine.dimension import DimensionProbe, DriftDimension, met
from controllers.engine.document_values import duration
from controllers.engine.target import Target
from controllers.engine.terms import (
    Controller,
    Dimension,
    Document,
    Evidence,
    Related,
    Snapshot,
)

MOST = 2.0


def measure(seconds: float | None) -> Dimension:
    """Score what is beyond the limit as a share of it."""
    if seconds is None or seconds <= MOST:
        return met("latency", int(seconds is not None))
    evidence = Evidence("latency/avgLatency", "missed", f"<= {MOST:g} s", seconds)
    return Dimension("latency", min(1.0, (seconds - MOST) / MOST), None, (evidence,), 1)


def _well(seconds: float | None) -> int | None:
    return None if seconds is not None and seconds > MOST else int(seconds is not None)


def _look(_: Controller, target: Target) -> DimensionProbe | None:
    return (
        DimensionProbe(_read, _well, partial(met, "latency"), measure)
        if target.kind == "Agent"
        else None
    )


def _read(snapshot: Snapshot, _: datetime) -> float | None:
    return _seconds(snapshot.target.status)


def _seconds(status: Document) -> float | None:
    spent = duration(status.get("avgLatency"))
    return None if spent is None else spent.total_seconds()


def _glance(_: str, __: Document, status: Document, ___: Related, ____: Any) -> int | None:
    return _well(_seconds(status))


DIMENSION = DriftDimension(
    name="latency",
    order=60,
    weight=0.5,
    meaning="How far the answers of an agent are beyond two seconds.",
    label="Latency",
    heading="latency",
    look=_look,
    glance=_glance,
)
