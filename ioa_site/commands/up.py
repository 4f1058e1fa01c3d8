"""Start everything in one process: web, live updates and the loop, on one port."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from datetime import datetime
from typing import Protocol

from ioa_site.server import web_server
from ioa_site.server.terminal import complain, say

HELP = "start the product on this machine: web and loop in one process"
EPILOG = """examples:
  ioa up                      start on http://127.0.0.1:8000
  ioa up --demo               the same with an example organisation at work
  ioa up --port 9000          choose another port
  ioa up --workers 2          use more cores: see also `ioa web` and `ioa worker`

Data lives in var/ of a clone (SQLite), or in your own data folder when this is an installed
package; IOA_DATA_DIR names another. Ctrl-C stops cleanly. The first start prints a one-time
sign-in link for the administrator; `ioa sign-in admin` prints a new one."""
WEB_GRACE = 1
STOP_GRACE = 5.0


class Part(Protocol):
    """Something that runs beside the web server."""

    def start(self) -> None:
        """Begin."""

    def stop(self, grace: float = ...) -> bool:
        """End; tells whether it did within so many seconds."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    web_server.add_address(parser)
    parser.add_argument("--demo", action="store_true", help="load an example and simulate it")
    parser.add_argument(
        "--workers",
        type=int,
        choices=range(1, 65),
        default=0,
        metavar="N",
        help="run the loop in N processes beside the web server, to use more cores",
    )


def run(options: argparse.Namespace) -> int:
    """Prepare the database, then serve until told to stop."""
    from django.conf import settings
    from django.utils import timezone

    from ioa_site.server.database import migrate_if_needed
    from ioa_site.work import restore_watch

    # One busy cycle must not hold a page back: threads take turns more often.
    sys.setswitchinterval(0.0005)
    listener = web_server.listen(options.host, options.port)
    base = web_server.address_of(listener, options.host)
    web_server.allow_host(options.host)
    if options.demo:
        # Links are enough, and work once: nobody is sent out while they look around.
        settings.DEMO, settings.SESSION_IDLE = True, settings.SESSION_LASTS
    migrate_if_needed()
    restore_watch.look_before_starting()
    lines = welcome(base, demo=options.demo, now=timezone.now())
    return 2 if lines is None else serve(listener, lines, parts(options, base))


def welcome(base: str, *, demo: bool, now: datetime) -> list[str] | None:
    """Make sure that somebody can sign in, and say how."""
    from controllers.access import people
    from controllers.worker import example_organisation
    from resources.documents.problems import Problem

    lines = [f"IOA Control runs at {base}"]
    administrator = people.ensure_administrator(now)
    if demo:
        try:
            loaded = example_organisation.load(now)
        except Problem as problem:
            complain(f"ioa: {problem.message} Start without --demo.")
            return None
        lines += [f"Loaded the example organisation: {loaded} resources."] if loaded else []
    if administrator.last_login is None:
        lines += ["Sign in as administrator (works once):"]
        lines += [f"  {people.sign_in_link(administrator, base)}"]
    if demo:
        lines += ["Or try it as somebody else (each works once):"]
        for sample, user in zip(people.SAMPLES, people.ensure_samples(now), strict=True):
            link = people.sign_in_link(user, base)
            lines.append(f"  {sample.title:<15} {sample.name:<12} {link}")
        lines.append(f"Open {base}/ and follow the guided path.")
    return [*lines, "Press Ctrl-C to stop."]


def parts(options: argparse.Namespace, base: str) -> list[Part]:
    """Return what runs beside the web server: wake-up, loop or workers, agents of the demo."""
    from controllers.worker.worker_loop import Loop
    from ioa_site.demo.simulation import Simulation
    from ioa_site.server.worker_processes import Workers
    from resources.store.announcements import Wakeup

    loop = Workers(options.workers) if options.workers else Loop()
    agents = [Simulation(base)] if options.demo else []
    return [Wakeup("web"), loop, *agents]


def serve(listener: socket.socket, lines: list[str], parts: list[Part]) -> int:
    """Run the web server and what belongs to it until a signal ends all, the last part first."""
    from ioa_site.server import span_export
    from ioa_site.work import restore_watch

    def begin() -> None:
        for part in parts:
            part.start()
        say("\n".join(lines))
        sys.stdout.flush()

    with span_export.kept():
        web_server.serve(listener, grace=WEB_GRACE, begin=begin)
        restore_watch.look_before_ending()
        stopped = [part.stop(STOP_GRACE) for part in reversed(parts)]
    if not all(stopped):
        # A chore that hangs must not keep the process alive: the database is safe as it is.
        os._exit(0)
    return 0
