"""The gate: every guard in its order, every cell of the mode table."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any, get_args

import pytest

from controllers.engine import gate
from controllers.engine.gate import GUARDS, Question, decide, people
from controllers.engine.precedence import Kind, Standing
from controllers.engine.terms import Class, Mode, Risk
from tests.rows import every_row

MODES: tuple[Mode, ...] = get_args(Mode)
CHANGE = Question("change", "enforce", approval="auto")
HARMLESS: tuple[Class, ...] = ("record", "notify")


def hold(kind: Kind) -> Standing:
    return Standing(9, kind, "organisation", "Because.", "person/maya")


# Every guard, in the order they count: how it is met, and what it answers.
REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({"hold": hold("stop")}, "refuse", "StoppedAll"),
    ({"hold": hold("freeze")}, "refuse", "Frozen"),
    ({"hold": hold("pause")}, "refuse", "Paused"),
    ({"hold": hold("override")}, "refuse", "Overridden"),
    ({"breaker": "Five cycles failed."}, "refuse", "BreakerOpen"),
    ({"dry_run": True}, "record", "DryRun"),
    ({"snapshot": "partial"}, "refuse", "SnapshotPartial"),
    ({"fault": "Nobody knows it."}, "refuse", "Unfit"),
    ({"managed": False}, "notify", "Unmanaged"),
    ({"protected": True, "destructive": True}, "notify", "Protected"),
    ({"skip_destructive": True, "destructive": True}, "refuse", "SkipDestructive"),
    ({"window_open": False}, "schedule", "OutsideWindow"),
    ({"actions_left": 0}, "schedule", "MaxActionsPerCycle"),
]


def test_every_guard_has_its_case() -> None:
    assert len(REFUSALS) == len(GUARDS)


@every_row(("met", "word", "code"), REFUSALS)
def test_each_guard_refuses_with_its_reason(met: dict[str, Any], word: str, code: str) -> None:
    """O-24 O-25 O-26 O-42 O-57 I2, I10"""
    ruling = decide(CHANGE._replace(**met))

    assert (ruling.word, ruling.code) == (word, code)
    assert ruling.reason.endswith(".")


@every_row(("first", "second"), list(pairwise(REFUSALS)))
def test_the_guard_before_wins(first: Any, second: Any) -> None:
    """I2"""
    both = CHANGE._replace(**{**second[0], **first[0]})

    assert decide(CHANGE._replace(**second[0])).code == second[2]
    assert decide(both).code == first[2]


@every_row("later", REFUSALS[1:])
def test_stop_all_beats_everything(later: Any) -> None:
    """I2"""
    assert decide(CHANGE._replace(**{**later[0], "hold": hold("stop")})).code == "StoppedAll"


@every_row(("kind", "met"), list(product(HARMLESS, [each[0] for each in REFUSALS[:4]])))
def test_people_are_told_and_things_are_noted_under_every_hold(
    kind: Class, met: dict[str, Any]
) -> None:
    assert decide(CHANGE._replace(kind=kind, **met)).word == "run"


@every_row("met", [each[0] for each in REFUSALS])
def test_what_is_only_noted_is_noted_whatever_stands(met: dict[str, Any]) -> None:
    assert decide(CHANGE._replace(kind="record", **met)).word == "run"


# The table of the behaviour: observe, advise, warn, enforce; how many people, where it is asked.
CELLS: dict[str, tuple[dict[str, Any], tuple[str, str, str, str], int]] = {
    "record": ({"kind": "record"}, ("run", "run", "run", "run"), 0),
    "notify": ({"kind": "notify"}, ("record", "recommend", "run", "run"), 1),
    "change, low risk, by policy": ({}, ("record", "recommend", "ask", "run"), 1),
    "change, low risk, approval required": (
        {"approval": "required"},
        ("record", "recommend", "ask", "ask"),
        1,
    ),
    "change, low risk, its governance asks": (
        {"requires_approval": True},
        ("record", "recommend", "ask", "ask"),
        1,
    ),
    "change, medium risk": ({"risk": "medium"}, ("record", "recommend", "ask", "ask"), 1),
    "change, high risk": ({"risk": "high"}, ("record", "recommend", "ask", "ask"), 1),
    "irreversible": ({"reversible": False}, ("record", "recommend", "ask", "ask"), 2),
    "destructive": ({"destructive": True}, ("record", "recommend", "ask", "ask"), 2),
    "spec change": ({"redeclares": True}, ("record", "recommend", "ask", "ask"), 2),
    "lowers a guard": ({"lowers": True}, ("record", "recommend", "ask", "ask"), 2),
    "block": ({"kind": "block"}, ("record", "record", "record", "run"), 0),
}


@every_row(("cell", "mode"), list(product(CELLS, MODES)))
def test_every_cell_of_mode_and_class(cell: str, mode: Mode) -> None:
    """I10"""
    given, words, _ = CELLS[cell]
    ruling = decide(CHANGE._replace(mode=mode, **given))

    assert ruling.word == words[MODES.index(mode)]
    assert ruling.code == f"Mode{mode.title()}"


@every_row("cell", CELLS)
def test_as_many_people_are_asked_as_it_takes(cell: str) -> None:
    """I9"""
    given, words, wanted = CELLS[cell]
    ruling = decide(CHANGE._replace(mode="warn", **given))

    assert ruling.people == (wanted if words[2] == "ask" else 0)


@pytest.mark.parametrize("risk", get_args(Risk))
def test_enforce_never_destroys_by_itself(risk: Risk) -> None:
    """O-22 I10"""
    found = {
        decide(CHANGE._replace(risk=risk, reversible=back, destructive=gone)).word
        for back, gone in ((False, False), (True, True), (False, True))
    }

    assert found == {"ask"}


@pytest.mark.parametrize(
    ("autonomy", "word"),
    [
        ("", "run"),
        ("autonomous", "run"),
        ("reactive", "run"),
        ("supervised", "ask"),
        ("advisory", "recommend"),
    ],
)
def test_an_agent_goes_as_far_as_its_type(autonomy: gate.Autonomy, word: str) -> None:
    assert decide(CHANGE._replace(autonomy=autonomy)).word == word


def test_the_first_cycle_after_a_hold_only_proposes() -> None:
    assert decide(CHANGE._replace(only_propose=True)).word == "ask"


def test_two_people_for_what_cannot_be_taken_back() -> None:
    """I9"""
    assert people(CHANGE) == 1
    assert people(CHANGE._replace(reversible=False)) == 2


def test_a_protected_target_may_still_be_changed_back_and_forth() -> None:
    assert decide(CHANGE._replace(protected=True)).word == "run"


@every_row("kind", HARMLESS)
@every_row(
    "met", [{"snapshot": "stale"}, {"managed": False}, {"window_open": False}, {"actions_left": 0}]
)
def test_telling_people_needs_no_window_and_no_allowance(kind: Class, met: Any) -> None:
    assert decide(CHANGE._replace(kind=kind, **met)).word == "run"
