"""Look at resources."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs, Stop

HELP = "look at resources, as they are or as they were"
EPILOG = """examples:
  ioa get agents                               a table of all agents
  ioa get agent growth-optimizer               one whole document as YAML
  ioa get agents -l tier=production,'!region'  only those whose labels fit
  ioa get security-policy -o json              documents as JSON
  ioa get domains --at 2026-02-25T10:00:00Z    the organisation as it was

The column CONDITIONS lists what is in its bad state. What -o yaml and -o json write can be applied
again: `ioa get agents -o yaml | ioa apply -f -`."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("kind", metavar="KIND", help="agent, agents, Agent, security-policy …")
    parser.add_argument("name", metavar="NAME", nargs="?", help="only this resource")
    parser.add_argument(
        "-o",
        "--output",
        choices=("yaml", "json", "table"),
        help="a table for many and YAML for one, unless told otherwise",
    )
    parser.add_argument(
        "-l", "--selector", default="", metavar="SELECTOR", help="such as a=b,c!=d,e in (x,y),!f"
    )
    parser.add_argument("--at", metavar="TIME", help="as it was; without a zone the time is UTC")


def run(options: argparse.Namespace) -> int:
    """Print one resource or many."""
    from ioa_site.work import get, names

    kind = names.kind_called(options.kind)
    at = names.time_called(options.at) if options.at else None
    if options.name and options.selector:
        raise Stop("Give either a name or a selector.")
    if options.name:
        get.print_one(kind, get.one(kind, options.name, at), options.output or "yaml")
    else:
        found = get.many(kind, options.selector, at)
        get.print_many(kind, found, options.output or "table")
    return 0
