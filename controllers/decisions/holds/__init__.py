"""Holds: what people said no to beats every controller, from the moment it is acknowledged."""

from __future__ import annotations

from controllers.decisions.holds.hold_end import find, lift, renew
from controllers.decisions.holds.hold_request import HoldRequest
from controllers.decisions.holds.in_force import (
    concerning,
    covering,
    epoch,
    only_proposes,
    standing,
)
from controllers.decisions.holds.lift_preview import preview
from controllers.decisions.holds.placement import Placed, drained, place, told
from controllers.decisions.holds.rehearsal import LABEL, end_rehearsal, rehearse
from controllers.decisions.holds.scopes import Flight
from controllers.decisions.holds.shadows import Shadowed, shadow
from controllers.decisions.holds.upkeep import sweep

__all__ = [
    "LABEL",
    "Flight",
    "HoldRequest",
    "Placed",
    "Shadowed",
    "concerning",
    "covering",
    "drained",
    "end_rehearsal",
    "epoch",
    "find",
    "lift",
    "only_proposes",
    "override_values",
    "place",
    "placement",
    "preview",
    "rehearse",
    "renew",
    "shadow",
    "standing",
    "sweep",
    "told",
]
