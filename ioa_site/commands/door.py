"""Look after the door: who is locked out, signed in, or shut out."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, add_person
from ioa_site.server.terminal import say, shown, table

HELP = "unlock people, sign them out, shut them out"
EPILOG = """examples:
  ioa door unlock maya                let maya try again at once
  ioa door sessions maya              where maya is signed in
  ioa door sign-out maya              sign maya out everywhere
  ioa door shut maya                  close her account, and sign her out everywhere
  ioa door open maya                  open it again
  ioa door forget-factors maya        she lost her phone and her recovery codes
  ioa door connect maya SUBJECT       let her come by the identity provider too

Only an administrator does this; say who you are with --as. Open pages notice within a second."""
NEEDS: Needs = "store"
VERBS = {
    "unlock": "let somebody try again who typed a wrong password too often",
    "sessions": "list where somebody is signed in",
    "sign-out": "end every session of somebody",
    "shut": "close somebody's account",
    "open": "open it again",
    "forget-factors": "take the second factors of somebody away who lost them",
    "connect": "let somebody who is here come by the identity provider too",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, explained in VERBS.items():
        named = verbs.add_parser(verb, help=explained)
        named.add_argument("name", metavar="NAME", help="the name the person signs in with")
        if verb == "connect":
            named.add_argument("subject", metavar="SUBJECT", help="who they are to the provider")
        add_person(named)


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    from ioa_site.work import door

    if options.verb == "sessions":
        rows = door.sessions(options.name, options.person)
        nowhere = [f"{shown(options.name, 100)} is signed in nowhere."]
        for line in table(rows, door.HEADS) if rows else nowhere:
            say(line)
        return 0
    say(door.done(options.verb, options.name, options.person, getattr(options, "subject", "")))
    return 0
