"""Run cycles, actions and chores; pages are served by `ioa web`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from ioa_site.commands import Needs
from ioa_site.server.terminal import say

HELP = "run cycles, actions and chores in a process of its own"
EPILOG = """examples:
  ioa worker                        one worker; start one for each core
  ioa worker --metrics-port 9100    with its metrics at http://127.0.0.1:9100/metrics

Workers share what is due through the database (DATABASE_URL) and need nothing else; with REDIS_URL
they are rung at once instead of looking every second. SIGTERM lets the chunk at hand end.
Metrics are served to IOA_METRICS_TOKEN, or without one to this machine only."""
NEEDS: Needs = "current"
GRACE = 10.0
# Where both run on one machine whoever waits for a page goes first; what is idle is ours.
NICENESS = 2
LOOK_SECONDS = 1.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--parent", type=int, metavar="PID", help="end when this process ends")
    host = "address that metrics are served on (%(default)s)"
    parser.add_argument("--metrics-port", type=int, help="serve metrics on this port")
    parser.add_argument("--metrics-host", default="127.0.0.1", help=host)


def run(options: argparse.Namespace) -> int:
    """Work until told to stop."""
    from ioa_site.server import metrics_server, span_export

    os.nice(NICENESS)
    with span_export.kept():
        where = ""
        if options.metrics_port is not None:
            where = metrics_server.expose(options.metrics_host, options.metrics_port)
        ended = work(where, options.parent)
    if not ended:
        # Neither what hangs nor Celery's own thread keeps the process alive: the database is safe.
        os._exit(0)
    return 0


def work(where: str, parent: int | None) -> bool:
    """Work until a signal comes; tells whether nothing is left that runs."""
    from controllers.worker.worker_loop import Loop
    from ioa_site.celery import Listener
    from ioa_site.work import restore_watch
    from resources.store.announcements import Wakeup

    loop, wakeup = Loop(), Wakeup("worker")
    listener = Listener(loop.holder)
    restore_watch.look_before_starting()
    wakeup.start()
    listener.start()
    loop.start()
    say(f"Worker {loop.holder} is at work.")
    if where:
        say(f"Metrics are at {where}")
    sys.stdout.flush()
    wait_for_the_end(parent)
    listener.stop()
    ended = loop.stop(GRACE)
    restore_watch.look_before_ending()
    return ended and listener.thread.ident is None


def wait_for_the_end(parent: int | None) -> None:
    """Sleep until somebody asks this process to end, or who started it is gone."""
    told = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: told.set())
    while not told.wait(LOOK_SECONDS) and parent in (None, os.getppid()):
        pass
