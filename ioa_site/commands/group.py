"""Look after the groups that approval policies name."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, add_person
from ioa_site.server.terminal import say, table

HELP = "make, fill and empty the groups that approval policies name"
EPILOG = """examples:
  ioa group list
  ioa group make finance-board --about "Looks at every payment."
  ioa group add finance-board maya tomas       put people in
  ioa group remove finance-board tomas         take somebody out
  ioa group rename finance-board board
  ioa group describe board --about "Looks at payments and contracts."
  ioa group delete board                       only while no policy names it

Only an administrator of the organisation changes a group; say who you are with --as. Nobody puts
themselves in. A member decides only with an approver's role."""
NEEDS: Needs = "store"
VERBS = {
    "make": "make a group with nobody in it",
    "add": "put people into a group",
    "remove": "take people out of a group",
    "rename": "call a group something else, while no policy names it",
    "describe": "say what a group is for",
    "delete": "delete a group that no policy names",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list groups, who is in them and which policies name them")
    for verb, explained in VERBS.items():
        named = verbs.add_parser(verb, help=explained)
        named.add_argument("name", metavar="NAME", help="the group as policies name it")
        if verb in ("add", "remove"):
            named.add_argument("people", nargs="+", metavar="PERSON", help="who, by user name")
        if verb == "rename":
            named.add_argument("new", metavar="NEW", help="what it is called from now on")
        if verb in ("make", "describe"):
            named.add_argument("--about", default="", metavar="TEXT", help="what it is for")
        add_person(named)


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    from ioa_site.work import groups

    if options.verb == "list":
        rows = groups.listed()
        for line in table(rows, groups.HEADS) if rows else ["There are no groups."]:
            say(line)
        return 0
    for line in groups.done(options.verb, options.name, options.person, vars(options)):
        say(line)
    return 0
