"""What may start the runs of a workflow is checked when it is declared."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from resources.documents.schedules import next_after, next_ever, parse
from resources.documents.validation import check
from tests.kinds.samples import sample
from tests.rows import every_row

pytestmark = pytest.mark.sqlite


def problems(**trigger: Any) -> list[tuple[str, str, str]]:
    document = sample("Workflow", {"/spec/trigger": trigger})
    return [(each.pointer, each.severity, each.message) for each in check(document)]


@pytest.mark.parametrize(
    "schedule", ["0 6 1 * *", "0 9 * * 2,4", "*/5 8-17 * jan-mar mon-fri", "@daily", "0 0 29 2 *"]
)
def test_a_schedule_of_five_fields_is_accepted(schedule: str) -> None:
    assert problems(schedule=schedule) == []


@every_row(
    "schedule",
    ["", "every day", "60 * * * *", "* * * *", "0 0 * * * *", "0 6 32 * *", "0 6 * 13 *", "@soon"],
)
def test_what_is_no_schedule_is_refused_at_its_place(schedule: str) -> None:
    said = "must be a schedule of five fields in UTC, such as 0 6 * * 1-5"

    assert problems(schedule=schedule) == [("/spec/trigger/schedule", "error", said)]


@pytest.mark.parametrize("schedule", ["0 0 30 2 *", "0 0 31 4,6,9,11 *"])
def test_a_day_that_never_comes_is_refused(schedule: str) -> None:
    found = problems(schedule=schedule)

    assert found == [("/spec/trigger/schedule", "error", "must name a day that comes")]


def test_the_29th_of_february_comes_however_long_it_takes() -> None:
    leap = parse("0 0 29 2 *")
    assert leap is not None
    after = datetime(2096, 3, 1, tzinfo=UTC)

    assert next_after(leap, after) is None
    assert next_ever(leap, after) == datetime(2104, 2, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    "condition", ["payload.riskScore >= 0.7", "riskScore >= 0.7", "has(payload.order)", "late"]
)
def test_a_condition_may_look_at_the_payload(condition: str) -> None:
    assert problems(event="growth.churned", condition=condition) == []


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("", "ends too early"),
        ("when it is late", "does not expect it at character 6"),
        ("payload.amount + 1", "needs true or false at character 16, not a number"),
        ("x" * 1_001, "must have at most 1,000 characters"),
        ("+".join("x" * 400), "must not nest more than 16 deep"),
    ],
)
def test_what_is_no_condition_is_refused_at_its_place(condition: str, message: str) -> None:
    found = problems(event="growth.churned", condition=condition)

    assert [each[:2] for each in found] == [("/spec/trigger/condition", "error")]
    assert message in found[0][2]


def test_words_in_the_order_of_the_alphabet_are_a_warning() -> None:
    ((pointer, severity, message),) = problems(condition="payload.riskLevel >= 'high'")

    assert (pointer, severity) == ("/spec/trigger/condition", "warning")
    assert "level(payload.riskLevel)" in message
