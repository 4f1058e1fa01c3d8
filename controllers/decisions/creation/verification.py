"""Whether what was carried out helped: told by what a later look found."""

from __future__ import annotations

from typing import Literal

Effect = Literal["effective", "worse"]
# By so much a score may rise without anybody blaming what was done.
MARGIN = 0.05


def effect(before: float | None, drifted: bool, score: float | None) -> Effect | None:
    """Say what a later look shows: it helped, it did harm, or nothing can be said yet.

    It helped when the drift is gone, or less than it was: a step on the way is not the whole way.
    """
    if score is None:
        return None
    if not drifted:
        return "effective"
    if before is None:
        return None
    if score > before + MARGIN:
        return "worse"
    return "effective" if score < before else None
