"""The suite says what it shows: green, void, broken or not shown, each with its own ending."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from faults import rows
from faults.run import NONE, Minimum, Row, Run
from faults.suite import Plan, Result, Suite
from ioa_site import cli
from ioa_site.commands import faults as command

FAULTS = [f"F{number}" for number in range(1, 26)]


def row(act: Callable[[Run], None], minimum: Minimum = NONE) -> Row:
    return Row("F99", "something breaks", "nothing", act, minimum=minimum, needs="nothing")


def result_of(each: Row) -> Result:
    (found,) = Suite(Plan((each,), quick=True), lambda text: None).run()
    return found


def good(run: Run) -> None:
    run.strike(3)


def bad(run: Run) -> None:
    run.strike(3)
    run.breach("A promise was broken.")


def impossible(run: Run) -> None:
    run.missing = "There is no such machine here."


def clumsy(run: Run) -> None:
    raise ValueError("The row has a mistake.")


def test_every_row_of_the_matrix_has_a_module() -> None:
    assert [each.name for each in rows.all_rows()] == FAULTS


def test_no_row_is_content_with_nothing() -> None:
    assert all(each.minimum.faults >= 1 for each in rows.all_rows())


def test_a_row_that_did_enough_and_broke_nothing_is_green() -> None:
    found = result_of(row(good, Minimum(0, 0, 0, 0, 0, 3)))

    assert (found.verdict, command.code_of([found])) == ("green", 0)


def test_a_row_that_did_too_little_is_void_and_not_green() -> None:
    found = result_of(row(good, Minimum(0, 0, 0, 0, 0, 4)))

    assert (found.verdict, found.short) == ("VOID", ["3 of 4 faults"])
    assert command.code_of([found]) == command.VOID


@pytest.mark.parametrize("act", [bad, clumsy])
def test_a_broken_promise_counts_however_much_was_done(act: Callable[[Run], None]) -> None:
    found = result_of(row(act))

    assert (found.verdict, command.code_of([found])) == ("BREACH", 1)


def test_what_cannot_be_done_here_is_not_shown_and_not_green() -> None:
    found = result_of(row(impossible))

    assert (found.verdict, command.code_of([found])) == ("not shown", command.VOID)


def test_whoever_interrupts_gets_what_was_found_and_nothing_is_green_that_was_not_run() -> None:
    def interrupted(run: Run) -> None:
        raise KeyboardInterrupt

    first, second = row(good), replace(row(interrupted), name="F100")

    found = Suite(Plan((first, second), quick=True), lambda text: None).run()

    assert [each.verdict for each in found] == ["green", "not shown"]
    assert command.code_of(found) == command.VOID


def test_a_breach_weighs_more_than_what_was_not_shown() -> None:
    assert command.code_of([result_of(row(bad)), result_of(row(impossible))]) == 1


def test_an_unknown_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["faults", "--only", "F4,F77"]) != 0
    assert "There is no row F77." in capsys.readouterr().err


def test_the_results_are_written_for_scripts(tmp_path: Path) -> None:
    file = tmp_path / "faults.json"

    command.write(file, [result_of(row(bad))], seed=7)

    found = json.loads(file.read_text())
    assert found["seed"] == 7
    assert found["rows"][0]["verdict"] == "BREACH"
    assert found["rows"][0]["breaches"] == ["A promise was broken."]
