"""Controllers that others run: the same rules, modes and holds, by the same functions.

An outside process opens a cycle under a lease, reports what it found, and closes it. What follows
from its findings is worked out here as for our own controllers; what it may do it claims as work.
"""

from __future__ import annotations

from controllers.outside.ending import End, close
from controllers.outside.leading import (
    Begun,
    Missing,
    Over,
    Refused,
    Replaced,
    Told,
    begin,
    declared,
    heartbeat,
    told,
)
from controllers.outside.reporting import Heard, Place, Reported, Wish, report

__all__ = [
    "Begun",
    "End",
    "Heard",
    "Missing",
    "Over",
    "Place",
    "Refused",
    "Replaced",
    "Reported",
    "Told",
    "Wish",
    "begin",
    "close",
    "declared",
    "heartbeat",
    "report",
    "told",
]
