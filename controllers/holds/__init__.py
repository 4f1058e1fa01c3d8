"""Holds: what people said no to beats every controller, from the moment it is acknowledged."""

from __future__ import annotations

from controllers.holds.in_force import concerning, covering, epoch, only_proposes, standing
from controllers.holds.lifting import find, lift, renew
from controllers.holds.placing import Placed, drained, place, told
from controllers.holds.previewing import preview
from controllers.holds.rehearsing import LABEL, end_rehearsal, rehearse
from controllers.holds.scopes import Flight
from controllers.holds.shadows import Shadowed, shadow
from controllers.holds.sweeping import sweep
from controllers.holds.wanting import Ended, Missing, Refused, Wanted

__all__ = [
    "LABEL",
    "Ended",
    "Flight",
    "Missing",
    "Placed",
    "Refused",
    "Shadowed",
    "Wanted",
    "concerning",
    "covering",
    "drained",
    "end_rehearsal",
    "epoch",
    "find",
    "lift",
    "only_proposes",
    "place",
    "preview",
    "rehearse",
    "renew",
    "shadow",
    "standing",
    "sweep",
    "told",
]
