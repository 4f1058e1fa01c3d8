"""Write stored secrets anew with the present key."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, add_person
from ioa_site.server.terminal import say

HELP = "write stored secrets anew with the first key of IOA_SECRETS_KEY"
EPILOG = """examples:
  ioa secrets rotate --as admin      after IOA_SECRETS_KEY=NEW,OLD

Put the new key first and keep the old one after it; start every process so; rotate; then drop the
old key. Addresses of channels, secrets of endpoints and second factors are written anew, all of
them or none."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    rotate = verbs.add_parser("rotate", help="write them anew")
    add_person(rotate)


def run(options: argparse.Namespace) -> int:
    """Write them anew."""
    from controllers.access import secret_rotation
    from controllers.common.secrets import Unreadable
    from ioa_site.commands import Stop
    from ioa_site.work import caller
    from ioa_site.work.channels import known

    try:
        count = secret_rotation.rotate(by=known(options.person), now=caller.now())
    except Unreadable as error:
        raise Stop(str(error), code=1) from None
    say(f"{count} secrets are written with the present key.")
    return 0
