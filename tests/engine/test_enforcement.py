"""The mode table, cell by cell."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from controllers.engine.gate import Approval, disposition
from controllers.engine.terms import Class, Disposition, Mode, Risk
from tests.rows import every_row

MODES: tuple[Mode, ...] = get_args(Mode)
RISKS: tuple[Risk, ...] = get_args(Risk)
APPROVALS: tuple[Approval, ...] = get_args(Approval)
EVERY = list(product(MODES, get_args(Class), RISKS, (True, False), APPROVALS))

# One row for each row of the table: observe, advise, warn, enforce.
ROWS: dict[str, tuple[Disposition, Disposition, Disposition, Disposition]] = {
    "record": ("run", "run", "run", "run"),
    "notify": ("record", "recommend", "run", "run"),
    "low risk, reversible, auto": ("record", "recommend", "ask", "run"),
    "low risk, reversible, required": ("record", "recommend", "ask", "ask"),
    "medium or high risk": ("record", "recommend", "ask", "ask"),
    "irreversible": ("record", "recommend", "ask", "ask"),
    "block": ("record", "record", "record", "run"),
}


def row(kind: Class, risk: Risk, reversible: bool, approval: Approval) -> str:
    if kind != "change":
        return kind
    if not reversible:
        return "irreversible"
    return f"low risk, reversible, {approval}" if risk == "low" else "medium or high risk"


@every_row(("mode", "kind", "risk", "reversible", "approval"), EVERY)
def test_every_combination_falls_into_its_cell_of_the_table(
    mode: Mode, kind: Class, risk: Risk, reversible: bool, approval: Approval
) -> None:
    """I-51"""
    expected = ROWS[row(kind, risk, reversible, approval)][MODES.index(mode)]

    assert disposition(mode, kind, risk, reversible, approval) == expected


def test_the_modes_come_in_the_order_of_the_table() -> None:
    assert MODES == ("observe", "advise", "warn", "enforce")
    assert len(EVERY) == 4 * 4 * 3 * 2 * 2


def test_enforce_denies_what_the_other_modes_let_through() -> None:
    """I-52"""
    found = [disposition(mode, "block", "high", False, "required") for mode in MODES]

    assert found == ["record", "record", "record", "run"]


def test_enforce_changes_by_itself_only_what_is_small_undoable_and_allowed() -> None:
    """I-53 D-23 D-24 X-05"""
    ran = [
        (risk, reversible, approval)
        for risk, reversible, approval in product(RISKS, (True, False), APPROVALS)
        if disposition("enforce", "change", risk, reversible, approval) == "run"
    ]

    assert ran == [("low", True, "auto")]


def test_warn_alerts_and_asks_before_a_change() -> None:
    """I-54"""
    assert disposition("warn", "notify", "low", True, "auto") == "run"
    assert disposition("warn", "change", "low", True, "auto") == "ask"


def test_advise_asks_nobody_and_blocks_nothing() -> None:
    """I-55"""
    found = {disposition(*each) for each in EVERY if each[0] == "advise" and each[1] != "record"}

    assert found == {"recommend", "record"}


def test_observe_does_nothing_but_record() -> None:
    """I-56"""
    found = {disposition(*each) for each in EVERY if each[0] == "observe" and each[1] != "record"}

    assert found == {"record"}


@pytest.mark.parametrize("kind", ["record", "notify"])
def test_records_and_notices_need_no_approval(kind: Class) -> None:
    """I-104"""
    found = {
        disposition("enforce", kind, risk, reversible, "required")
        for risk, reversible in product(RISKS, (True, False))
    }

    assert found == {"run"}


def test_a_change_needs_approval_unless_the_controller_says_otherwise() -> None:
    """I-104 A-36"""
    found = {
        disposition("enforce", "change", risk, reversible, "required")
        for risk, reversible in product(RISKS, (True, False))
    }

    assert found == {"ask"}


def test_no_mode_destroys_by_itself() -> None:
    """O-22 X-22"""
    irreversible = [each for each in EVERY if each[1] == "change" and not each[3]]

    assert "run" not in {disposition(*each) for each in irreversible}
