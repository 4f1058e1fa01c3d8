"""A worker that is killed where it is told to.

`python -m tests.journeys.doomed MOMENT PLACE TIME`: does everything that is due at a time and dies
`before` or `after` a function, spelled `module:name`.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import datetime
from functools import reduce
from importlib import import_module
from typing import Any

import django


def die_at(moment: str, place: str) -> None:
    """Let the process kill itself around a function."""
    module, path = place.split(":")
    *owners, name = path.split(".")
    owner: Any = reduce(getattr, owners, import_module(module))
    original = getattr(owner, name)

    def last(*given: Any, **named: Any) -> Any:
        if moment == "after":
            original(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, last)


def main(moment: str, place: str, time: str) -> None:
    django.setup()
    from controllers.loop import chunk_writer
    from controllers.loop.cycle_run import Means
    from controllers.worker import worker_loop

    # Few enough for one chunk to take several transactions.
    chunk_writer.REWRITTEN = 2
    die_at(moment, place)
    now = datetime.fromisoformat(time)
    worker_loop.work("doomed", Means(clock=lambda: now))


if __name__ == "__main__":
    main(*sys.argv[1:])
