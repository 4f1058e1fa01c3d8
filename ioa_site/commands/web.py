"""Serve pages and API; cycles are run by `ioa worker`."""

from __future__ import annotations

import argparse
import sys

from ioa_site import serving
from ioa_site.commands import Needs
from ioa_site.terminal import say

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
    serving.add_address(parser)
    parser.add_argument("--share-port", action="store_true", help="let others listen there too")


def run(options: argparse.Namespace) -> int:
    """Serve until told to stop."""
    from django.conf import settings

    from controllers.live.doorbell import PagesBell
    from ioa_site import tracing
    from ioa_site.celery import WorkersBell
    from ioa_site.work import watching

    listener = serving.listen(options.host, options.port, shared=options.share_port)
    serving.allow_host(options.host)
    settings.LOOP_ELSEWHERE = True
    pages, workers = PagesBell(), WorkersBell()

    def begin() -> None:
        pages.start()
        workers.start()
        say(f"IOA Control serves at {serving.address_of(listener, options.host)}")
        sys.stdout.flush()

    watching.look_before_starting()
    with tracing.kept():
        serving.serve(listener, grace=GRACE, begin=begin)
        watching.look_before_ending()
    return 0
