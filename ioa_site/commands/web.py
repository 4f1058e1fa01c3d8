"""Serve pages and API; cycles are run by `ioa worker`."""

from __future__ import annotations

import argparse
import sys

from ioa_site.commands import Needs
from ioa_site.server import web_server
from ioa_site.server.terminal import say

HELP = "serve pages and API in a process of its own, beside `ioa worker`"
EPILOG = """examples:
  ioa web                                serve on http://127.0.0.1:8000
  ioa web --host 0.0.0.0 --port 80       serve to the network
  ioa web --port 8000 --share-port       one of several that share a port of this machine

Start as many as you like on one database (DATABASE_URL); with REDIS_URL pages hear of changes at
once, without it within a second. SIGTERM lets requests end, for at most ten seconds. Run
`ioa migrate` before the first start and before each upgrade."""
NEEDS: Needs = "current"
GRACE = 10


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    web_server.add_address(parser)
    parser.add_argument("--share-port", action="store_true", help="let others listen there too")


def run(options: argparse.Namespace) -> int:
    """Serve until told to stop."""
    from django.conf import settings

    from ioa_site.server import span_export
    from ioa_site.work import restore_watch
    from resources.store.announcements import Wakeup

    listener = web_server.listen(options.host, options.port, shared=options.share_port)
    web_server.allow_host(options.host)
    settings.LOOP_ELSEWHERE = True
    wakeup = Wakeup("web")

    def begin() -> None:
        wakeup.start()
        say(f"IOA Control serves at {web_server.address_of(listener, options.host)}")
        sys.stdout.flush()

    restore_watch.look_before_starting()
    with span_export.kept():
        web_server.serve(listener, grace=GRACE, begin=begin)
        restore_watch.look_before_ending()
    return 0
