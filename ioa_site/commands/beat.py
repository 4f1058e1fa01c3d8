"""Ring the workers every second; they do without, too."""

from __future__ import annotations

import argparse

from ioa_site.commands import Stop

HELP = "ring the workers every second, through Redis"
EPILOG = """examples:
  ioa beat                    start one, several or none: nothing depends on it

Intervals are kept in the database and every worker looks there by itself; a beat only makes
sure that one that sleeps looks now."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options: there are none."""


def run(options: argparse.Namespace) -> int:
    """Ring until told to stop."""
    from django.conf import settings

    if not settings.REDIS_URL:
        raise Stop("There is nothing to ring through: set REDIS_URL.")
    from ioa_site.celery import Bell, Ringer, app

    Bell(app=app, scheduler_cls=Ringer, loglevel="WARNING", quiet=True).run()
    return 0
