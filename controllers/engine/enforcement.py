"""How far a mode lets an action go: the mode table, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from controllers.engine.types import Class, Disposition, Mode, Risk

Approval = Literal["required", "auto"]

_TABLE: Mapping[Class, Mapping[Mode, Disposition]] = {
    "record": {"observe": "run", "advise": "run", "warn": "run", "enforce": "run"},
    "notify": {"observe": "record", "advise": "recommend", "warn": "run", "enforce": "run"},
    "change": {"observe": "record", "advise": "recommend", "warn": "ask", "enforce": "ask"},
    # To run a block is to deny. Short of that the operation is allowed and the block is noted;
    # the warning and the alert that go with it are notifications of their own.
    "block": {"observe": "record", "advise": "record", "warn": "record", "enforce": "run"},
}


def disposition(
    mode: Mode, action_class: Class, risk: Risk, reversible: bool, approval: Approval
) -> Disposition:
    """Say what becomes of an action; `approval` is the stricter of controller's and target's."""
    if (
        action_class == "change"
        and mode == "enforce"
        and approval == "auto"
        and risk == "low"
        and reversible
    ):
        return "run"
    return _TABLE[action_class][mode]
