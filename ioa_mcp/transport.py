"""Serve the tools over standard input and output, or over HTTP."""

from __future__ import annotations

from typing import Any

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ioa_mcp.server import UNSIGNED, bearer, build


class Signed:
    """Lets no request in that carries no token: each acts as its own agent."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 without a token; whether it is worth anything, the product says."""
        headers = {name.decode("latin-1"): text.decode("latin-1") for name, text in lines(scope)}
        if scope["type"] != "http" or bearer(headers):
            await self.app(scope, receive, send)
            return
        refusal = JSONResponse({"detail": UNSIGNED}, 401, {"WWW-Authenticate": "Bearer"})
        await refusal(scope, receive, send)


def lines(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request, in lower case."""
    found: list[tuple[bytes, bytes]] = scope.get("headers", [])
    return found


def over_stdio(url: str, token: str, version: str) -> None:
    """Serve one client, with one token, until it leaves."""
    anyio.run(build(url, lambda _: token, version).run_stdio_async)


def over_http(url: str, host: str, port: int, version: str) -> None:
    """Serve many clients at `/mcp`, each request with its own token."""
    # Nothing is kept between requests, so that no token is ever used for another's call.
    app = build(url, bearer, version).streamable_http_app(
        stateless_http=True, host=host, transport_security=allowed(host, port)
    )
    uvicorn.run(Signed(app), host=host, port=port, log_level="warning", lifespan="on")


def allowed(host: str, port: int) -> TransportSecuritySettings:
    """Take only requests made for this address: a page elsewhere cannot borrow the browser."""
    names = {host if ":" not in host else f"[{host}]", "127.0.0.1", "localhost", "[::1]"}
    hosts = sorted(f"{name}:{port}" for name in names)
    settings: dict[str, Any] = {
        "allowed_hosts": hosts,
        "allowed_origins": [f"http://{each}" for each in hosts],
    }
    return TransportSecuritySettings(**settings)
