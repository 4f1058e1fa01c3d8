"""Say which outside machines carry operations out when they are called."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, add_person
from ioa_site.server.terminal import say, shown, table

HELP = "enter the outside machines that carry operations out by webhook"
EPILOG = """examples:
  ioa endpoint add robots https://robots.example/ioa --operation restart --operation throttle
  ioa endpoint add robots-eu https://eu.example/ioa --operation restart --domain growth
  ioa endpoint rotate robots
  ioa endpoint off robots
  ioa endpoint list

Calls are signed as Standard Webhooks says. The secret is shown once, when it is made; after
rotate the former one signs too, until the next."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list endpoints, without their secrets")
    for verb, explained in (
        ("add", "enter an endpoint; its secret is shown once"),
        ("rotate", "make a new secret"),
        ("on", "let an endpoint be called"),
        ("off", "let it be called no more"),
    ):
        named = verbs.add_parser(verb, help=explained)
        named.add_argument("name", metavar="NAME", help="the endpoint")
        if verb == "add":
            named.add_argument("url", metavar="URL", help="its address, https only")
            named.add_argument(
                "--operation",
                action="append",
                default=[],
                metavar="NAME",
                help="an operation it takes; repeat it for more",
            )
            named.add_argument("--domain", default="", help="only for this domain")
        add_person(named)


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    from ioa_site.work import endpoints

    if options.verb == "list":
        rows = endpoints.listed()
        for line in table(rows, endpoints.HEADS) if rows else ["There are no endpoints."]:
            say(line)
        return 0
    name = shown(options.name)
    if options.verb == "add":
        called = (options.name, options.url, options.operation, options.domain)
        secret = endpoints.add(*called, options.person)
        say(f"{name} is called from now on. Its secret, shown only now:")
        say(secret)
    elif options.verb == "rotate":
        secret = endpoints.rotate(options.name, options.person)
        say(f"The new secret of {name}, shown only now:")
        say(secret)
    else:
        endpoints.switch(options.name, options.verb == "on", options.person)
        say(f"{name} is {options.verb}.")
    return 0
