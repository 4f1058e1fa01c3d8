"""Let agents use the product through the Model Context Protocol."""

from __future__ import annotations

import argparse
import os
from urllib.parse import urlsplit

from ioa_site.commands import Needs, Stop
from ioa_site.version import VERSION

HELP = "serve an agent's calls as tools of the Model Context Protocol"
EPILOG = """examples:
  IOA_TOKEN=ioa_… ioa mcp                                 over standard input and output
  ioa mcp --http 127.0.0.1:8765                           over HTTP at /mcp

Over HTTP each request brings its own token, as Authorization: Bearer ioa_…"""
NEEDS: Needs = "nothing"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "--url", default="http://127.0.0.1:8000", help="where the product is (%(default)s)"
    )
    parser.add_argument("--http", metavar="HOST:PORT", help="serve over HTTP on this address")


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves, or somebody stops it."""
    if urlsplit(options.url).scheme not in ("http", "https"):
        raise Stop("--url must begin with http:// or https://.")
    if options.http:
        host, port = address(options.http)
        from ioa_mcp import transport

        transport.over_http(options.url, host, port, VERSION)
        return 0
    token = os.environ.get("IOA_TOKEN", "")
    if not token:
        raise Stop("Set IOA_TOKEN to an agent's token: `ioa token create AGENT` prints one.")
    from ioa_mcp import transport

    transport.over_stdio(options.url, token, VERSION)
    return 0


def address(text: str) -> tuple[str, int]:
    """Read HOST:PORT; a port alone means this machine."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65536:
        raise Stop("--http is HOST:PORT, such as 127.0.0.1:8765.")
    return host.strip("[]") or "127.0.0.1", int(port)
