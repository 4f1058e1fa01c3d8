"""Workers that are killed where they are told to, many of them from one prepared process.

`python -m tests.journeys.mortal` reads one request a line and answers each with how the child
ended. It has no connection open when a child is born, so that every child makes its own.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from datetime import datetime
from typing import Any

import django
from django.db import connection, connections


def live(request: dict[str, Any]) -> None:
    """Be a worker, once, until the place that was chosen."""
    from controllers import execution
    from controllers.execution import agent_tasks, due_work, failpoints
    from controllers.execution.results import StepResult
    from controllers.loop.cycle_run import Means

    failpoints.armed = failpoints.Armed(request["place"], "kill")
    # One proposal for each life, so that every death is that of one execution.
    due_work.MOST = 1
    now = datetime.fromisoformat(request["now"])
    match request["do"]:
        case "run":
            execution.run_due("mortal", Means(clock=lambda: now))
        case "recover":
            execution.recover(now)
        case "report":
            agent_tasks.report(request["step"], request["fence"], StepResult("done"), now)


def give_birth(request: dict[str, Any]) -> int:
    """Let a child live, and return how it ended."""
    child = os.fork()
    if child == 0:
        try:
            live(request)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def warm_up(now: datetime) -> None:
    """Do what is due in the parent, so that its children have everything at hand."""
    from controllers import execution
    from controllers.loop.cycle_run import Means

    execution.run_due("parent", Means(clock=lambda: now))
    execution.recover(now)
    connections.close_all()
    # What a child never touches it never has to copy.
    gc.collect()
    gc.freeze()


def main() -> None:
    django.setup()
    # A pool would keep connections, and share them with the children.
    connection.settings_dict["OPTIONS"].pop("pool", None)
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "warm up":
            warm_up(datetime.fromisoformat(request["now"]))
            ended = 0
        else:
            ended = give_birth(request)
        sys.stdout.write(f"{ended}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
