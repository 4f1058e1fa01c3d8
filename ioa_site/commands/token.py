"""Give agents and outside controllers tokens, and take them back."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs
from ioa_site.server.terminal import complain, say, shown, table

HELP = "create, list and revoke the tokens of agents and outside controllers"
EPILOG = """examples:
  ioa token create growth-optimizer                       30 days, may read and report its status
  ioa token create growth-optimizer --expires 7d --scope status:write
  ioa token create controller/ship-keeper                 for the process that runs it outside
  ioa token list
  ioa token revoke Ab3dE9xZ

The token is printed once and cannot be shown again. Only its first part, the ID, is listed."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    create = verbs.add_parser("create", help="print a new token, once")
    create.add_argument("agent", metavar="AGENT", help="name of the agent, or controller/NAME")
    create.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="SCOPE",
        help="resources:read, status:write, proposals:write, actions:write, admission:ask,"
        " usage:write, telemetry:write, runs:write or events:read; for a controller"
        " resources:read, cycles:write or actions:write; can be repeated",
    )
    create.add_argument("--expires", default="30d", help="how long it lasts (%(default)s)")
    listing = verbs.add_parser("list", help="list tokens, without their secrets")
    listing.add_argument("agent", metavar="AGENT", nargs="?", help="only this one's")
    revoke = verbs.add_parser("revoke", help="make a token worthless at once")
    revoke.add_argument("key_id", metavar="ID", help="the ID as listed")


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    from ioa_site.work import credentials

    if options.verb == "create":
        made = credentials.create(options.agent, scopes=options.scope, expires=options.expires)
        complain(f"Token {made.token.key_id} of {made.token.agent}: keep it now.")
        say(made.text)
    elif options.verb == "revoke":
        token = credentials.revoke(options.key_id)
        say(f"Token {token.key_id} of {shown(str(token.agent))} is revoked.")
    else:
        rows = credentials.listed(options.agent)
        for line in table(rows, credentials.HEADS) if rows else ["There are no tokens."]:
            say(line)
    return 0
