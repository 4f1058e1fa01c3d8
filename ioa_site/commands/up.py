"""Start everything in one process: web, live updates and the loop, on one port."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from datetime import datetime

from ioa_site.terminal import complain, say

HELP = "start the product on this machine: web and loop in one process"
EPILOG = """examples:
  ioa up                      start on http://127.0.0.1:8000
  ioa up --demo               the same with an example organisation
  ioa up --port 9000          choose another port

Data lives in var/ (SQLite). Ctrl-C stops cleanly. The first start prints a one-time
sign-in link for the administrator; `ioa sign-in admin` prints a new one."""
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, never chosen
STOP_GRACE = 5.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    parser.add_argument("--demo", action="store_true", help="load the example organisation")


def run(options: argparse.Namespace) -> int:
    """Prepare the database, then serve until told to stop."""
    from django.utils import timezone

    from ioa_site.database import migrate_if_needed

    # One busy cycle must not hold a page back: threads take turns more often.
    sys.setswitchinterval(0.0005)
    listener = listen(options.host, options.port)
    if listener is None:
        return 2
    base = f"http://{shown_host(options.host)}:{listener.getsockname()[1]}"
    allow_host(options.host)
    migrate_if_needed()
    lines = welcome(base, demo=options.demo, now=timezone.now())
    return 2 if lines is None else serve(listener, lines)


def listen(host: str, port: int) -> socket.socket | None:
    """Take the port before anything else, or say who has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        complain(f"ioa: cannot listen on {host}:{port}: {reason}. Choose another with --port.")
        return None
    return listener


def shown_host(host: str) -> str:
    """Return the name a browser on this machine uses."""
    if host in EVERYWHERE:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def allow_host(host: str) -> None:
    """Let requests name the address that was asked for."""
    from django.conf import settings

    name = shown_host(host)
    if name not in settings.ALLOWED_HOSTS:
        settings.ALLOWED_HOSTS.append(name)


def welcome(base: str, *, demo: bool, now: datetime) -> list[str] | None:
    """Make sure that somebody can sign in, and say how."""
    from controllers import example, people

    lines = [f"IOA Control runs at {base}"]
    administrator = people.ensure_administrator(now)
    if demo:
        try:
            loaded = example.load(now)
        except example.Refused as error:
            complain(f"ioa: {error} Start without --demo.")
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
    return [*lines, "Press Ctrl-C to stop."]


def serve(listener: socket.socket, lines: list[str]) -> int:
    """Run web server and loop until a signal; both end before this returns."""
    import uvicorn

    from controllers.runner import Loop
    from ioa_site.asgi import application
    from resources.api import feed

    loop = Loop()

    class Server(uvicorn.Server):
        """Starts the loop and speaks once the port answers."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            loop.start()
            say("\n".join(lines))
            sys.stdout.flush()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            feed.end_all()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        application,
        lifespan="off",
        log_level="warning",
        timeout_graceful_shutdown=1,
        ws="none",
        server_header=False,
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn raises the signal again when it has stopped; what follows must still run.
        signal.signal(number, lambda *_: None)
    Server(config).run(sockets=[listener])
    if loop.thread.ident is not None and not loop.stop(STOP_GRACE):
        # A chore that hangs must not keep the process alive: the database is safe as it is.
        os._exit(0)
    return 0
