"""Bring the database to the shape this version needs."""

from __future__ import annotations

import argparse

from ioa_site.server.terminal import say

HELP = "bring the database up to date, before starting web and workers"
EPILOG = """examples:
  ioa migrate                 run it once for each release, before its processes start

Processes of the version before go on meanwhile: a release adds to the database, and takes away
only what the version before it no longer uses. Two at once are harmless."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options: there are none."""


def run(options: argparse.Namespace) -> int:
    """Run what is missing."""
    from ioa_site.server.database import migrate_if_needed

    say("The database is up to date now." if migrate_if_needed() else "Nothing to do.")
    return 0
