"""Run drills from the command line, without a server or beside one."""

from __future__ import annotations

import time

from controllers.models import Drill
from controllers.worker import drills
from ioa_site.work import caller
from ioa_site.work.rows import live

PAUSE_SECONDS = 0.2


def everything() -> list[str]:
    """Return the names of all Governance."""
    return [*live("Governance").order_by("name").values_list("name", flat=True)]


def run(name: str) -> Drill:
    """Run a drill here, or wait for the worker that was faster; return it when it has ended."""
    asked = drills.ask(name, actor=caller.person(), now=caller.now())
    drill = drills.run(asked.pk, caller.now()) or asked
    while drill.state in Drill.OPEN:
        time.sleep(PAUSE_SECONDS)
        drill = Drill.objects.select_related("governance").get(pk=asked.pk)
    return drill
