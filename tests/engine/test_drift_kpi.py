"""KPI drift: which KPIs miss their target, and what is not known."""

from __future__ import annotations

import pytest

from controllers.engine.drift.kpi import measure
from controllers.engine.terms import Evidence, Reading
from tests.engine.measuring import kpis

UNKNOWN = [
    Reading("no-observation", "gte", 12, None, note="no observation"),
    Reading("no-target", "gte", None, 9),
    Reading("no-such-operator", "about", 12, 9),
]


def test_the_score_is_the_share_of_kpis_that_miss_their_target() -> None:
    """I-44 I-65"""
    assert measure(kpis(missed=1, of=3)).score == 1 / 3


@pytest.mark.parametrize(
    ("operator", "met", "missed"),
    [
        ("gt", [5.1], [5, 4.9]),
        ("gte", [5, 5.1], [4.9]),
        ("lt", [4.9], [5, 5.1]),
        ("lte", [5, 4.9], [5.1]),
        ("eq", [5, 5 + 1e-9, 5 - 1e-9], [5.1, 5 + 1e-7, -5]),
    ],
)
def test_every_operator_compares_the_value_with_the_target(
    operator: str, met: list[float], missed: list[float]
) -> None:
    """I-44"""
    readings = [Reading("churn", operator, 5, value) for value in (*met, *missed)]

    dimension = measure(readings)

    assert [each.observed for each in dimension.evidence] == missed
    assert dimension.of == len(met) + len(missed)


@pytest.mark.parametrize("unknown", UNKNOWN, ids=lambda reading: reading.name)
def test_an_unknown_kpi_is_left_out_of_the_share(unknown: Reading) -> None:
    dimension = measure([*kpis(missed=1, of=2), unknown])

    assert dimension.score == 0.5
    assert dimension.evidence[-1].verdict == "unknown"


@pytest.mark.parametrize("unknown", UNKNOWN, ids=lambda reading: reading.name)
def test_an_unknown_kpi_is_missed_where_missing_ones_fail(unknown: Reading) -> None:
    dimension = measure([*kpis(missed=0, of=3), unknown], "fail")

    assert dimension.score == 0.25
    assert dimension.evidence[-1].verdict == "missed"


def test_only_unknown_kpis_have_evidence_but_no_score() -> None:
    """A-32"""
    dimension = measure(UNKNOWN)

    assert dimension.score is None
    assert [each.verdict for each in dimension.evidence] == ["unknown"] * 3


@pytest.mark.parametrize("missing", ["ignore", "fail"])
def test_no_kpis_have_neither_score_nor_evidence(missing: str) -> None:
    """A-32"""
    dimension = measure([], "fail" if missing == "fail" else "ignore")

    assert dimension.score is None
    assert dimension.evidence == ()


def test_the_evidence_says_what_was_wanted_and_what_was_seen_when_and_by_whom() -> None:
    at = "2026-11-16T09:58:00Z"
    reading = Reading("monthly-churn", "lt", 5, 6.1, "percent", at, "agent/analyst", "last month")

    assert measure([reading]).evidence == (
        Evidence(
            "kpi/monthly-churn", "missed", "< 5 percent", 6.1, at, "agent/analyst", "last month"
        ),
    )


def test_the_evidence_of_an_unknown_kpi_keeps_what_is_known() -> None:
    absent, untold, strange = measure(UNKNOWN).evidence

    assert (absent.desired, absent.observed, absent.note) == (">= 12", None, "no observation")
    assert (untold.desired, untold.observed) == (None, 9)
    assert (strange.desired, strange.observed) == ("about 12", 9)
