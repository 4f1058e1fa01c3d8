"""The web server of a process: its port, how it runs, and how it ends."""

from __future__ import annotations

import argparse
import resource
import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ioa_site.commands import Stop

if TYPE_CHECKING:
    import uvicorn

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, never chosen
# What a page may say on its socket; it never says more than its address.
WEBSOCKET_LIMIT = 8 * 1024


def add_address(parser: argparse.ArgumentParser) -> None:
    """Describe the options that say where to listen."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")


def listen(host: str, port: int, *, shared: bool = False, option: str = "--port") -> socket.socket:
    """Take the port before anything else, or say who has it; shared, others may have it too."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise Stop(
            f"cannot listen on {host}:{port}: {reason}. Choose another with {option}."
        ) from None
    return listener


def address_of(listener: socket.socket, host: str) -> str:
    """Return where a browser on this machine finds it."""
    return f"http://{shown_host(host)}:{listener.getsockname()[1]}"


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


def configured(application: Any, grace: int) -> uvicorn.Config:
    """Say how the web server is to run, and how long requests may take when it ends."""
    import uvicorn

    return uvicorn.Config(
        application,
        lifespan="off",
        # Its lines go the way of all others: in one form, and without secrets.
        log_config=None,
        log_level="warning",
        timeout_graceful_shutdown=grace,
        ws="websockets-sansio",
        ws_max_size=WEBSOCKET_LIMIT,
        # Compressing the same words anew for each page costs more than sending them.
        ws_per_message_deflate=False,
        server_header=False,
    )


def serve(listener: socket.socket, *, grace: int, begin: Callable[[], None]) -> None:
    """Serve until a signal; `begin` runs once the port answers."""
    import uvicorn

    from ioa_site.asgi import application
    from resources.api import feed

    class Server(uvicorn.Server):
        """Speaks once the port answers, and ends the feeds that would keep it from ending."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            begin()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            feed.end_all()
            await super().shutdown(sockets)

    many_files()
    outlive_signals()
    Server(configured(application, grace)).run(sockets=[listener])


def outlive_signals() -> None:
    """Let what follows the server run: it raises a signal again when it has stopped."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)


def many_files() -> None:
    """Let this process have as many connections open as the system allows it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
