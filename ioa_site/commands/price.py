"""Say what models cost, so that usage without a cost has one."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, add_person
from ioa_site.server.terminal import say, shown, table

HELP = "set what models cost for a million tokens"
EPILOG = """examples:
  ioa price set openai gpt-4o --input 2.50 --output 10
  ioa price set mistral large --input 2 --output 6 --currency EUR
  ioa price list
  ioa price remove openai gpt-4o

What was reported before keeps its cost. Usage of a model without a price costs 0 and says so."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list prices")
    for verb, explained in (
        ("set", "set the price of a model"),
        ("remove", "take the price of a model away"),
    ):
        named = verbs.add_parser(verb, help=explained)
        named.add_argument("provider", metavar="PROVIDER", help="such as openai")
        named.add_argument("model", metavar="MODEL", help="such as gpt-4o")
        add_person(named)
        if verb == "set":
            named.add_argument(
                "--input", required=True, metavar="AMOUNT", help="for a million tokens in"
            )
            named.add_argument(
                "--output", required=True, metavar="AMOUNT", help="for a million tokens out"
            )
            named.add_argument(
                "--currency", default="USD", metavar="CODE", help="three letters (USD)"
            )


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    from ioa_site.work import prices

    if options.verb == "list":
        rows = prices.listed()
        for line in table(rows, prices.HEADS) if rows else ["There are no prices."]:
            say(line)
        return 0
    named = f"{shown(options.provider, 64)}/{shown(options.model, 128)}"
    if options.verb == "set":
        paid = (options.input, options.output)
        prices.put(options.provider, options.model, paid, options.currency, options.person)
        say(
            f"A million tokens of {named} cost {shown(options.input)} in and"
            f" {shown(options.output)} out, in {shown(options.currency)}."
        )
    else:
        prices.remove(options.provider, options.model, options.person)
        say(f"What {named} costs is not known any more.")
    return 0
