"""Say which services stand behind the names of channels."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, add_person
from ioa_site.server.terminal import say, shown, table

HELP = "map the names of channels, such as slack-ops, to real services"
EPILOG = """examples:
  ioa channel set slack-ops                       asks for the address, without showing it
  ioa channel set slack-ops < address.txt         reads it from a file
  ioa channel test slack-ops
  ioa channel list
  ioa channel remove slack-ops

An address is Apprise's: slack://TOKEN, pagerduty://KEY@TOKEN, mailtos://USER:PASSWORD@HOST,
jsons://HOST/PATH and so on. It is kept encrypted and never shown again. Messages on a channel
without a service stay in the product."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list channels, without their addresses")
    for verb, explained in (
        ("set", "put a service behind a name; the address is asked for"),
        ("remove", "take the service behind a name away"),
        ("test", "send a message that says it is a test"),
    ):
        named = verbs.add_parser(verb, help=explained)
        named.add_argument("name", metavar="NAME", help="the channel as documents name it")
        add_person(named)


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    from ioa_site.work import channels

    if options.verb == "list":
        rows = channels.listed()
        for line in table(rows, channels.HEADS) if rows else ["There are no channels."]:
            say(line)
        return 0
    name = shown(options.name)
    if options.verb == "set":
        hint = channels.put(options.name, options.person)
        say(f"Messages on {name} go to {shown(hint)}.")
    elif options.verb == "remove":
        channels.remove(options.name, options.person)
        say(f"Messages on {name} stay in the product.")
    else:
        channels.test(options.name, options.person)
        say(f"A test message was sent to {name}.")
    return 0
