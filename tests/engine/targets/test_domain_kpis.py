"""A KPI is known while its observation is within its window and in a unit that can be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.engine.targets.domain import TARGET
from controllers.engine.terms import Document, Reading, Snapshot
from tests.engine.targets.judging import NOW, drift_of, resource
from tests.rows import every_row
from tests.tiers import examples

YESTERDAY = "2026-11-15T00:30:00Z"


def domain(spec: Document | None = None, status: Document | None = None) -> Snapshot:
    return Snapshot(resource("Domain", "growth", spec or {}, status))


def kpi(target: Any, **more: Any) -> Document:
    return {"name": "churn", "target": target, **more}


def under(target: Any, value: Any, **more: Any) -> Reading:
    window, status = more.pop("window", "30d"), {"name": "churn", "value": value, **more}
    spec = {"kpis": [kpi(target, window=window)]}
    return TARGET.kpis(domain(spec, {"kpis": [status]}), NOW)[0]


FLOOR = {"operator": "gte", "value": 12, "unit": "percent"}


def test_a_kpi_below_its_floor_is_missed() -> None:
    """I-44"""
    snapshot = domain(
        {"kpis": [kpi(FLOOR), {"name": "orders", "target": ">= 5"}]},
        {"kpis": [{"name": "churn", "value": 9}, {"name": "orders", "value": 5}]},
    )

    dimension = drift_of(TARGET, snapshot).of("kpi")

    assert dimension is not None
    assert dimension.score == 0.5
    assert [each.verdict for each in dimension.evidence] == ["missed"]


def test_a_reading_says_what_is_wanted_what_was_seen_when_and_by_whom() -> None:
    reading = under(FLOOR, 9, unit="percent", observedAt=YESTERDAY, source="churn-watcher")

    assert reading == Reading("churn", "gte", 12, 9, "percent", YESTERDAY, "churn-watcher")


def test_a_target_written_as_a_text_is_read() -> None:
    snapshot = domain(
        {"kpis": [kpi("< 5%"), {"name": "cost", "target": "<= 9.5", "unit": "EUR"}]},
        {"kpis": [{"name": "churn", "value": 4}, {"name": "cost", "value": 9, "unit": "EUR"}]},
    )

    churn, cost = TARGET.kpis(snapshot, NOW)

    assert (churn.operator, churn.target, churn.value, churn.unit) == ("lt", 5, 4, "%")
    assert (cost.operator, cost.target, cost.value, cost.unit) == ("lte", 9.5, 9, "EUR")


def test_a_target_in_prose_is_unknown_and_says_so() -> None:
    reading = under("as good as it gets", 9)

    assert reading.target is None
    assert reading.note == "Its target cannot be read as an operator and a figure."


@every_row(
    ("unit", "value", "wanted", "expected"),
    [
        ("ms", 1500, "s", 1.5),
        ("minutes", 90, "h", 1.5),
        ("hours", 36, "days", 1.5),
        ("ratio", 0.25, "percent", 25),
        ("%", 25, "fraction", 0.25),
        ("", 25, "percent", 25),
        ("EUR", 25, "", 25),
        ("USD", 25, "EUR", None),
        ("hours", 25, "percent", None),
    ],
)
def test_known_units_are_converted_and_others_are_unknown(
    unit: str, value: float, wanted: str, expected: float | None
) -> None:
    reading = under({"operator": "lte", "value": 1, "unit": wanted}, value, unit=unit)

    assert reading.value == (None if expected is None else pytest.approx(expected))
    assert bool(reading.note) is (expected is None)


def test_a_kpi_nobody_reported_is_unknown() -> None:
    snapshot = domain({"kpis": [kpi(FLOOR)]}, {"kpis": [{"name": "other", "value": 1}]})

    assert TARGET.kpis(snapshot, NOW)[0].value is None
    assert drift_of(TARGET, snapshot).score is None


def test_the_last_observation_of_a_kpi_wins() -> None:
    reports = [{"name": "churn", "value": 1}, {"name": "churn", "value": 2}]

    assert TARGET.kpis(domain({"kpis": [kpi(FLOOR)]}, {"kpis": reports}), NOW)[0].value == 2


@pytest.mark.parametrize(("age", "known"), [(timedelta(hours=23), True), (timedelta(1), False)])
def test_an_observation_counts_within_its_window(age: timedelta, known: bool) -> None:
    reading = under(FLOOR, 9, window="1d", observedAt=(NOW - age).isoformat())

    assert (reading.value is not None) is known
    assert ("older than its window of 1d" in reading.note) is not known


def test_an_observation_without_a_time_is_as_old_as_the_last_report() -> None:
    snapshot = domain(
        {"kpis": [kpi(FLOOR, window="1d")]}, {"kpis": [{"name": "churn", "value": 9}]}
    )
    old = snapshot._replace(target=snapshot.target._replace(reported_at=NOW - timedelta(2)))

    assert TARGET.kpis(snapshot, NOW)[0].value == 9
    assert TARGET.kpis(old, NOW)[0].value is None


@pytest.mark.parametrize("window", ["permanent", "continuous", "soon", None])
def test_a_window_that_never_closes_keeps_an_observation(window: str | None) -> None:
    reading = under(FLOOR, 9, window=window, observedAt="2020-01-01T00:00:00Z")

    assert reading.value == 9


def test_the_clock_alone_matters_when_the_first_observation_leaves_its_window() -> None:
    spec = {
        "kpis": [
            kpi(FLOOR, window="2d"),
            {"name": "cost", "target": "1", "window": "7d"},
            {"name": "orders", "target": "1", "window": "1h"},
        ]
    }
    status = {
        "kpis": [
            {"name": name, "value": 1, "observedAt": YESTERDAY}
            for name in ("churn", "cost", "orders")
        ]
    }

    assert TARGET.recheck(domain(spec, status), NOW) == datetime(2026, 11, 17, 0, 30, tzinfo=UTC)
    assert TARGET.recheck(domain(), NOW) is None


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from(["ms", "s", "min", "h", "d"]))
@settings(max_examples=examples(100), deadline=None)
def test_a_unit_never_turns_a_comparison_around(first: float, second: float, unit: str) -> None:
    wanted = {"operator": "lte", "value": 1, "unit": "s"}
    one, two = (under(wanted, each, unit=unit).value for each in (first, second))

    assert one is not None
    assert two is not None
    assert (one <= two) == (first <= second) or one == pytest.approx(two)
